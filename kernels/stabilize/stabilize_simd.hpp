// The CPU side of stabilize in SIMD: weighing who agrees with a motion, and the warp.
#pragma once

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/stabilize/stabilize_fit.hpp"

namespace lensd {

Agreement weigh_agreeing(const StabilizeWork& work, const AgreeTest& test);

/// One output pixel by the definition, channel by channel.
void warp_pixel(const ConstImageRef& in, const StabilizeWarp& warp, Border border, int x, int y,
                uint8_t* out);

void warp_rows(const ConstImageRef& in, const ImageRef& out, const StabilizeWarp& warp, Border border,
               Band band);

}  // namespace lensd
