// UTF-8: valid and invalid characters, and their replacement.
#include <gtest/gtest.h>

#include "core/base/text/utf8.hpp"
#include "core/config/toml.hpp"
#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

TEST(Utf8, CharactersAtTheLimits) {
  for (const char* text : {"", "a", "\x7F", "\u0080", "\u07FF", "\u0800", "\uD7FF", "\uE000", "\uFFFF",
                           "\U00010000", "\U0010FFFF", "Привет 日本 ế"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xE2\x82z",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "caf\xE9"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Utf8, InvalidBytesAreReplaced) {
  EXPECT_EQ(as_utf8("é日"), "é日");
  EXPECT_EQ(as_utf8("caf\xE9.mp4"), "caf\uFFFD.mp4");
  EXPECT_EQ(as_utf8("\xE2\x82"), "\uFFFD\uFFFD");
}

/// TOML text stays valid with any bytes.
TEST(Utf8, QuotedTextCanBeParsed) {
  std::string bytes;
  for (int c = 1; c < 256; ++c) bytes += static_cast<char>(c);
  const toml::parse_result parsed = parse_toml("text = " + toml_quoted(bytes), "test");
  ASSERT_TRUE(parsed) << parsed.error().description();
  EXPECT_EQ(parsed.table()["text"].value<std::string>(), as_utf8(bytes));
}

}  // namespace
}  // namespace lensd
