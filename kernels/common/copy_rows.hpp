// Row-by-row copies of rectangles.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Copies a rectangle of `in` to `out`. It begins at pixel (x, y) and is as large as `out`. copy_rows()
/// copies the output rows of `band`; launch_copy() queues the whole copy on CUDA.
void copy_rows(const ConstImageRef& in, const ImageRef& out, Band band, int x = 0, int y = 0);
void launch_copy(const ConstImageRef& in, const ImageRef& out, CudaStream stream, int x = 0, int y = 0);

}  // namespace lensd
