// box on the CPU for 16-bit images.
#pragma once

#include "kernels/box/box.hpp"

namespace lensd {

/// Returns the bytes of worker memory.
size_t deep_box_bytes(const ImageFormat& format);

}  // namespace lensd
