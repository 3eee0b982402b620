// Copies pictures to the desktop's clipboard with the program wl-copy (Wayland) or xclip (X11), because GLFW
// copies only text. The program serves the picture until something else is copied, even after lensd has
// ended.
#pragma once

#include "core/base/notices.hpp"
#include "core/image/image.hpp"
#include "core/image/pixel_aspect.hpp"

namespace lensd {

/// Copies the picture as PNG. Returns a notice that reports success or the reason of the failure. May block
/// for several seconds. Thread-safe.
Notice copy_picture(const Image& image, PixelAspect aspect);

}  // namespace lensd
