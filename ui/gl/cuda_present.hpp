// The kernel of the interop path: linear device memory into a texture's array. Free of GL, so that it can be
// tested where there is a GPU and no display.
#pragma once

#include "core/device/cuda_check.hpp"
#include "core/image/view.hpp"

namespace lensd::ui {

/// Queues the copy of `image` (device memory, Gray8 or RGBA8, any pitch) into `surface`, RGBA8 of the same
/// extent. Gray is spread to red, green and blue with alpha 255. Throws Error when the launch is refused.
void write_surface(ConstImageRef image, cudaSurfaceObject_t surface, CUstream_st* stream);

}  // namespace lensd::ui
