// Look-up tables: out = table[channel][in] for each colour channel; alpha passes through.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Tables of R, G and B; Gray8 uses only the first.
struct alignas(16) LutTables {
  uint8_t channel[3][256];
};

/// Applies the tables to the band's rows on the CPU. `in` and `out` have the same format; they may be the
/// same image (in-place).
void apply_lut(const ConstImageRef& in, const ImageRef& out, const LutTables& tables, Band band);

/// Queues the look-up of the whole image on CUDA. `tables` is in device memory and is read when the kernel
/// runs.
void launch_lut(const ConstImageRef& in, const ImageRef& out, const LutTables* tables, CudaStream stream);

}  // namespace lensd
