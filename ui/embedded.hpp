// Files embedded in the binary: fonts, shaders, the panel page. See embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace lensd::ui {

/// Returns an embedded file's bytes in static storage, or an empty span if there is no file of that name.
std::span<const unsigned char> embedded(std::string_view name);

}  // namespace lensd::ui
