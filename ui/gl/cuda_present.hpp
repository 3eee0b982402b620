// The kernel of the interop path: copies linear device memory to a texture's array. Independent of GL, so
// that it can be tested without a display.
#pragma once

#include "core/device/cuda_check.hpp"
#include "core/image/view.hpp"

namespace lensd::ui {

/// Queues a copy of `image` (device memory, any pitch) to `surface` (RGBA, same depth and extent). Grey is
/// replicated to red, green and blue, with opaque alpha. Throws Error if the launch fails.
void write_surface(ConstImageRef image, cudaSurfaceObject_t surface, CUstream_st* stream);

}  // namespace lensd::ui
