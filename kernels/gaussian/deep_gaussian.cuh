// The CUDA side of gaussian and unsharp for images with 16 bits. A block blurs a tile, one channel after
// another: samples with border ── shared memory ── horizontal sums ── shared memory ── vertical sums ─▶
// finish ─▶ global.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/deep/tile.cuh"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {
namespace {

struct DeepBlurTuning {
  static constexpr int threads = 256, columns = 32, rows = 32;
  static constexpr int run = 4;  ///< outputs that a thread computes from the same samples
  static constexpr int most_columns = columns + 2 * kGaussianMaxRadius,
                       most_rows = rows + 2 * kGaussianMaxRadius;
  // The lanes of a warp read one column of the tile, so an odd pitch avoids bank conflicts.
  static constexpr int tile_pitch = most_columns + 1, across_pitch = columns + 1;
};

struct DeepBlurShared {
  float tile[DeepBlurTuning::most_rows * DeepBlurTuning::tile_pitch];
  float across[DeepBlurTuning::most_rows * DeepBlurTuning::across_pitch];
  float weights[32];
};

/// Computes deep_gaussian_sum() of `run` adjacent outputs. at(i) is the sample at distance i from the first
/// one.
template <class At>
__device__ void deep_blur_run(const float* weights, int radius, const At& at,
                              float (&sums)[DeepBlurTuning::run]) {
  constexpr int n = DeepBlurTuning::run;
  float before[n], after[n];  // samples at i − k and i + k
#pragma unroll
  for (int i = 0; i < n; ++i) before[i] = after[i] = at(i), sums[i] = weights[0] * before[i];
  for (int k = 1; k <= radius; ++k) {
#pragma unroll
    for (int i = n - 1; i > 0; --i) before[i] = before[i - 1];
#pragma unroll
    for (int i = 0; i + 1 < n; ++i) after[i] = after[i + 1];
    before[0] = at(-k), after[n - 1] = at(n - 1 + k);
    const float weight = weights[k];
#pragma unroll
    for (int i = 0; i < n; ++i) sums[i] = sums[i] + weight * (before[i] + after[i]);
  }
}

/// A block blurs a tile channel by channel. `Finish(block)(in, blurred)` returns the output sample.
template <class Finish, int kChannels>
__global__ void __launch_bounds__(DeepBlurTuning::threads)
    deep_blur_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, bool aligned,
                     const GaussianBlock* block) {
  using T = DeepBlurTuning;
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  __shared__ DeepBlurShared s;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int x0 = static_cast<int>(blockIdx.x) * T::columns, y0 = static_cast<int>(blockIdx.y) * T::rows;
  const int r = block->radius, rows = T::rows + 2 * r;
  const Border border = block->border;
  if (t < 32) s.weights[t] = block->weights[t];
  const Finish finish(block);
  uint16_t result[T::run][kColours];
#pragma unroll
  for (int c = 0; c < kColours; ++c) {
    __syncthreads();  // the last channel's sums have been read
    load_deep_tile<T::threads>(in, kChannels, c, {x0, y0, T::columns, T::rows, r, r}, border, s.tile,
                               T::tile_pitch);
    __syncthreads();
    for (int i = t; i < rows * (T::columns / T::run); i += T::threads) {
      const int y = i % rows, x = i / rows * T::run;
      const float* from = s.tile + y * T::tile_pitch + x + r;
      float sums[T::run];
      deep_blur_run(
          s.weights, r, [from](int k) { return from[k]; }, sums);
#pragma unroll
      for (int k = 0; k < T::run; ++k) s.across[y * T::across_pitch + x + k] = sums[k];
    }
    __syncthreads();
    const float* from = s.across + (warp * T::run + r) * T::across_pitch + lane;
    float sums[T::run];
    deep_blur_run(
        s.weights, r, [from](int k) { return from[k * T::across_pitch]; }, sums);
#pragma unroll
    for (int k = 0; k < T::run; ++k) {
      const int sample = static_cast<int>(s.tile[(warp * T::run + k + r) * T::tile_pitch + lane + r]);
      result[k][c] = static_cast<uint16_t>(finish(sample, deep_gaussian_value(sums[k])));
    }
  }
  if (x0 + lane >= in.extent.width) return;
  for (int k = 0; k < T::run; ++k)
    if (const int y = y0 + warp * T::run + k; y < in.extent.height)
      store_deep_colours(in, out, x0 + lane, y, result[k], aligned);
}

template <class Finish>
void launch_deep_blur(const ConstImageRef& in, const ImageRef& out, const GaussianBlock* block,
                      CudaStream stream) {
  using T = DeepBlurTuning;
  const dim3 grid(blocks_for(in.width(), T::columns), blocks_for(in.height(), T::rows));
  const auto kernel = in.channels() == 1 ? deep_blur_kernel<Finish, 1> : deep_blur_kernel<Finish, 4>;
  kernel<<<grid, T::threads, 0, stream>>>(in.as<const uint16_t>(), out.as<uint16_t>(), rows_aligned(out, 8),
                                          block);
  LENSD_LAUNCHED();
}

}  // namespace
}  // namespace lensd
