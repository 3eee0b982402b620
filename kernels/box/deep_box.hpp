// The CPU side of box for images with 16 bits.
#pragma once

#include "kernels/box/box.hpp"

namespace lensd {

/// Returns the bytes of worker memory.
size_t deep_box_bytes(const ImageFormat& format);

}  // namespace lensd
