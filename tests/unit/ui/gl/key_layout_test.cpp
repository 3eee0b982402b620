// Shortcuts in keyboard layouts without Latin letters, and digits of French layouts.
#include <gtest/gtest.h>

#include "ui/gl/key_layout.hpp"

namespace lensd::ui {
namespace {

TEST(KeyLayout, KeysHaveTheirCharactersInTheUsLayout) {
  EXPECT_EQ(us_character('F', false), U'f');
  EXPECT_EQ(us_character('F', true), U'F');
  EXPECT_EQ(us_character('1', true), U'!');
  EXPECT_EQ(us_character(',', true), U'<');
  EXPECT_EQ(us_character('[', false), U'[');
  EXPECT_EQ(us_character(256, false), 0u) << "Escape";
  EXPECT_EQ(us_character(161, false), 0u) << "a key that US keyboards lack";
  EXPECT_EQ(us_character(-1, false), 0u);
}

TEST(KeyLayout, OnlyLayoutsWithoutLatinLettersUseThePositions) {
  EXPECT_TRUE(latin_layout("a"));
  EXPECT_TRUE(latin_layout("q")) << "French";
  for (const char* other : {"ф", "α", "ש", "ش", "ฟ", ""}) {
    EXPECT_FALSE(latin_layout(other)) << other;
    EXPECT_EQ(second_character('M', false, false, other), U'm') << other;
    EXPECT_EQ(second_character('M', true, false, other), U'M') << other;
    EXPECT_EQ(second_character('Z', true, true, other), U'z') << "Ctrl+Shift+z in " << other;
  }
  EXPECT_EQ(second_character('M', false, false, "a"), 0u);
  EXPECT_EQ(second_character('[', false, false, "a"), 0u) << "German ü is not [";
}

TEST(KeyLayout, DigitKeysAreDigitsWithCtrlAndAlt) {
  EXPECT_EQ(second_character('1', false, true, "q"), U'1') << "French Ctrl+1, typed as Ctrl+&";
  EXPECT_EQ(second_character('2', false, false, "q"), 0u) << "é switches no node";
}

}  // namespace
}  // namespace lensd::ui
