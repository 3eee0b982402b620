// Functions of stabilize on the CPU: the sum of inlier weights with SIMD, and the scalar warp of a pixel.
#pragma once

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/stabilize/stabilize_fit.hpp"

namespace lensd {

InlierWeights weigh_inliers(const StabilizeWork& work, const InlierTest& test);

/// Writes output pixel (x, y) to `out`, with scalar code.
void warp_pixel(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y,
                uint8_t* out);

}  // namespace lensd
