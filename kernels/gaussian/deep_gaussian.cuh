// The CUDA side of gaussian and unsharp for images with 16 bits. A block blurs a tile of one channel: samples
// with border ── shared memory ── horizontal sums ── shared memory ── vertical sums ─▶ finish ─▶ global.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "kernels/common/border_call.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {
namespace {

struct DeepBlurTuning {
  static constexpr int threads_x = 32, threads_y = 8, columns = 32, rows = 32;
  static constexpr int most_columns = columns + 2 * kGaussianMaxRadius,
                       most_rows = rows + 2 * kGaussianMaxRadius;
};

/// `Finish(block)(in, blurred)` returns the output sample. blockIdx.z is the channel.
template <class Finish>
__global__ void __launch_bounds__(DeepBlurTuning::threads_x* DeepBlurTuning::threads_y)
    deep_blur_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, int step,
                     const GaussianBlock* block) {
  using T = DeepBlurTuning;
  __shared__ uint16_t tile[T::most_rows][T::most_columns];
  __shared__ float across[T::most_rows][T::columns];
  __shared__ float weights[32];
  const int c = static_cast<int>(blockIdx.z), width = in.extent.width, height = in.extent.height;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * T::columns, y0 = static_cast<int>(blockIdx.y) * T::rows;
  const int r = block->radius;
  if (c == 3) {
    for (int y = ty; y < T::rows; y += T::threads_y)
      if (x0 + tx < width && y0 + y < height)
        out.row(y0 + y)[4 * (x0 + tx) + 3] = in.row(y0 + y)[4 * (x0 + tx) + 3];
    return;
  }
  const Border border = block->border;
  if (ty == 0) weights[tx] = block->weights[tx];
  for (int y = ty; y < T::rows + 2 * r; y += T::threads_y) {
    const int row = called_border_index(y0 - r + y, height, border);
    for (int x = tx; x < T::columns + 2 * r; x += T::threads_x) {
      const int column = called_border_index(x0 - r + x, width, border);
      tile[y][x] = row < 0 || column < 0 ? uint16_t{0} : in.row(row)[column * step + c];
    }
  }
  __syncthreads();
  for (int y = ty; y < T::rows + 2 * r; y += T::threads_y)
    across[y][tx] =
        deep_gaussian_sum(weights, r, [&](int k) { return static_cast<float>(tile[y][tx + r + k]); });
  __syncthreads();
  const Finish finish(block);
  for (int y = ty; y < T::rows; y += T::threads_y) {
    if (x0 + tx >= width || y0 + y >= height) continue;
    const int blurred =
        deep_gaussian_value(deep_gaussian_sum(weights, r, [&](int k) { return across[y + r + k][tx]; }));
    out.row(y0 + y)[(x0 + tx) * step + c] = static_cast<uint16_t>(finish(tile[y + r][tx + r], blurred));
  }
}

template <class Finish>
void launch_deep_blur(const ConstImageRef& in, const ImageRef& out, const GaussianBlock* block,
                      CudaStream stream) {
  using T = DeepBlurTuning;
  const dim3 grid(blocks_for(in.width(), T::columns), blocks_for(in.height(), T::rows),
                  static_cast<unsigned>(in.channels()));
  deep_blur_kernel<Finish><<<grid, dim3(T::threads_x, T::threads_y), 0, stream>>>(
      in.as<const uint16_t>(), out.as<uint16_t>(), in.channels(), block);
  LENSD_LAUNCHED();
}

}  // namespace
}  // namespace lensd
