#include "core/base/text/printable.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/text/utf8.hpp"

namespace lensd {
namespace {

struct CharacterRange {
  uint32_t first, last;
};

/// C0 except tab and line feed, DEL and C1; Arabic letter mark; left-to-right and right-to-left marks; line
/// separators, embeddings and overrides; isolates.
constexpr CharacterRange kControls[] = {{0x00, 0x08},     {0x0B, 0x1F},     {0x7F, 0x9F},    {0x61C, 0x61C},
                                        {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};

bool is_control(uint32_t c) {
  return std::ranges::any_of(kControls, [c](const CharacterRange& r) { return c >= r.first && c <= r.last; });
}

/// Returns the character at the start of valid UTF-8 and sets `length` to its bytes.
uint32_t first_character(std::string_view text, size_t& length) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint32_t c = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) c = c << 6 | (byte(i) & 0x3F);
  return c;
}

}  // namespace

std::string printable(std::string_view text, Lines lines) {
  const std::string valid = as_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    size_t length = 0;
    const uint32_t c = first_character(rest, length);
    if (is_control(c) || (c == '\n' && lines == Lines::join))
      out += ' ';
    else
      out += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace lensd
