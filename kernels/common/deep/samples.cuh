// The CUDA side of samples.hpp.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/deep/pixels.cuh"

namespace lensd {

/// A thread processes four samples: an RGBA pixel or four grey ones.
struct DeepTuning {
  static constexpr int threads = 256;
  static constexpr int samples = 4;
};

/// An operation that can process sample i to i + 3 of row y at once, with i a multiple of 4.
template <class Op>
concept FourSamplesOp = requires(const Op& op, DeepPixel& v) {
  op.apply(0, 0, v);
};

/// Writes op(i, y, v) for each colour sample v, sample i of row y; alpha is copied. `Op` may also have
/// apply(i, y, v), which replaces the four samples from i on, for wider accesses to its own memory.
template <class Op>
__global__ void __launch_bounds__(DeepTuning::threads)
    deep_samples_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, int row_samples, bool rgba,
                        bool aligned, Op op) {
  const int i = static_cast<int>(blockIdx.x * DeepTuning::threads + threadIdx.x) * DeepTuning::samples;
  const int y = static_cast<int>(blockIdx.y), left = row_samples - i;
  if (left <= 0) return;
  const uint16_t* from = in.row(y) + i;
  uint16_t* to = out.row(y) + i;
  if (left < DeepTuning::samples) {
    for (int k = 0; k < left; ++k) to[k] = static_cast<uint16_t>(op(i + k, y, from[k]));
    return;
  }
  DeepPixel v = load_deep(from, aligned);
  if constexpr (FourSamplesOp<Op>) {
    const uint16_t alpha = v.v[3];
    op.apply(i, y, v);
    if (rgba) v.v[3] = alpha;
  } else {
#pragma unroll
    for (int k = 0; k < DeepTuning::samples; ++k)
      if (k < 3 || !rgba) v.v[k] = static_cast<uint16_t>(op(i + k, y, v.v[k]));
  }
  store_deep(to, v, aligned);
}

template <class Op>
void launch_deep_samples(const ConstImageRef& in, const ImageRef& out, CudaStream stream, const Op& op) {
  const int samples = static_cast<int>(in.format.row_samples());
  const dim3 grid(blocks_for(samples, DeepTuning::threads * DeepTuning::samples),
                  static_cast<unsigned>(in.height()));
  deep_samples_kernel<<<grid, DeepTuning::threads, 0, stream>>>(
      in.as<const uint16_t>(), out.as<uint16_t>(), samples, in.channels() == 4,
      rows_aligned(in, 8) && rows_aligned(out, 8), op);
  LENSD_LAUNCHED();
}

}  // namespace lensd
