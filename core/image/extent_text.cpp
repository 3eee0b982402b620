#include "core/image/extent_text.hpp"

#include <charconv>

namespace lensd {
namespace {

bool parse_side(std::string_view text, int& side) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, side);
  return parsed.ec == std::errc() && parsed.ptr == end && side >= 1 && side <= kMaxSide;
}

}  // namespace

std::optional<Extent> parse_extent(std::string_view text) {
  const size_t x = text.find('x');
  Extent extent;
  if (x == std::string_view::npos || !parse_side(text.substr(0, x), extent.width) ||
      !parse_side(text.substr(x + 1), extent.height))
    return std::nullopt;
  return extent;
}

}  // namespace lensd
