// Files that travel inside the binary: fonts and shaders. See embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace lensd::ui {

/// The bytes of an embedded file, empty when there is none of that name. Static storage.
std::span<const unsigned char> embedded(std::string_view name);

}  // namespace lensd::ui
