// stabilize in SIMD on the CPU: weights of the pairs that agree with a motion, and the warp.
#pragma once

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/stabilize/stabilize_fit.hpp"

namespace lensd {

InlierWeights weigh_inliers(const StabilizeWork& work, const InlierTest& test);

/// Writes one output pixel by the scalar definition.
void warp_pixel(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y,
                uint8_t* out);

}  // namespace lensd
