// Sizes of pictures as text.
#pragma once

#include <optional>
#include <string_view>

#include "core/image/view.hpp"

namespace lensd {

/// Parses a width and height in pixels, such as "640x480". Returns nullopt if `text` is anything else, or if
/// a side is not from 1 to kMaxSide. Thread-safe.
std::optional<Extent> parse_extent(std::string_view text);

}  // namespace lensd
