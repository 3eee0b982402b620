// core/base/text/printable: text from outside cannot control a terminal or add lines to a log.
#include <gtest/gtest.h>

#include "core/base/text/printable.hpp"

namespace lensd {
namespace {

TEST(Printable, ReplacesWhatControlsATerminalOrTheDirectionOfText) {
  EXPECT_EQ(printable("a\nb\r\x1b[31mc\x7f"), "a b  [31mc ");
  EXPECT_EQ(printable("\u0085\u009b31m|\u2028|\u202e|\u2066|\u061c"), "  31m| | | | ");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), " x");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\uFFFD31m")
      << "the control sequence of terminals with 8 bits";
  EXPECT_EQ(printable("a\nb\x1b", Lines::keep), "a\nb ");
}

TEST(Printable, KeepsOtherText) {
  const std::string text = "tab\t straße 日本語 عربى 🎥 \u00a0é";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace lensd
