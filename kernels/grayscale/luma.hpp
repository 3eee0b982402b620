// RGBA8 → Gray8 by weights, for grayscale and for the conversion that the plan adds by itself.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/grayscale/grayscale_math.hpp"

namespace lensd {

/// Rows of `band`. Any thread.
void luma_rows(ConstImageRef rgba, ImageRef gray, Band band, const LumaBlock& weights);
#if LENSD_CUDA
/// Queues the whole image; `weights` is in device memory.
void launch_luma(ConstImageRef rgba, ImageRef gray, const LumaBlock* weights, CudaStream stream);
/// Queues a copy of the pixels.
void launch_copy(ConstImageRef in, ImageRef out, CudaStream stream);
#endif
/// The definition.
Image luma_reference(const Image& rgba, const LumaBlock& weights);

}  // namespace lensd
