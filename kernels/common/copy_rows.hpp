// Row-by-row copies of rectangles.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Copies the rectangle of `in` that begins at pixel (x, y) to `out`. CPU: the rows of `band`; CUDA: the
/// whole rectangle.
void copy_rows(const ConstImageRef& in, const ImageRef& out, Band band, int x = 0, int y = 0);
void launch_copy(const ConstImageRef& in, const ImageRef& out, CudaStream stream, int x = 0, int y = 0);

}  // namespace lensd
