// Look-up tables: out = table[channel][in] for each colour channel; alpha passes through.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Tables of R, G and B; Gray8 uses the first.
struct alignas(16) LutTables {
  uint8_t channel[3][256];
};

/// CPU: the band's rows. `in` and `out` have the same format; they may be the same image.
void apply_lut(const ConstImageRef& in, const ImageRef& out, const LutTables& tables, Band band);

#if LENSD_CUDA
/// CUDA: the whole image; `tables` in device memory, read when the kernel runs.
void launch_lut(const ConstImageRef& in, const ImageRef& out, const LutTables* tables, CudaStream stream);
#endif

}  // namespace lensd
