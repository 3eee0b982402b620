// The CUDA side of convolve for images with 16 bits.
#include "core/device/cuda_fwd.hpp"
#include "kernels/common/deep/tile.cuh"
#include "kernels/convolve/convolve.hpp"

namespace lensd {
namespace {

/// A block computes a tile, one channel after another. A thread computes adjacent outputs of a column.
struct DeepConvolveTuning {
  static constexpr int threads = 256, columns = 32, rows = 32, outputs = rows * columns / threads;
  static constexpr int rim = kConvolveMaxSide - 1, pitch = columns + rim;
};

template <int kChannels>
__global__ void __launch_bounds__(DeepConvolveTuning::threads)
    deep_convolve_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, bool aligned,
                         const ConvolveBlock* __restrict__ params) {
  using T = DeepConvolveTuning;
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  __shared__ float tile[(T::rows + T::rim) * T::pitch];
  __shared__ ConvolveBlock::DeepTap taps[kConvolveMaxSide * kConvolveMaxSide];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, first = t / 32 * T::outputs;
  const DeepTileArea area{static_cast<int>(blockIdx.x) * T::columns,
                          static_cast<int>(blockIdx.y) * T::rows,
                          T::columns,
                          T::rows,
                          params->cols / 2,
                          params->rows / 2};
  const int count = params->deep_count;
  const Border border = params->border;
  const float bias = params->deep_bias;
  for (int i = t; i < count; i += T::threads) taps[i] = params->deep[i];
  uint16_t result[T::outputs][kColours];
#pragma unroll
  for (int c = 0; c < kColours; ++c) {
    __syncthreads();  // the last channel's samples have been read
    load_deep_tile<T::threads>(in, kChannels, c, area, border, tile, T::pitch);
    __syncthreads();
    float sum[T::outputs];
#pragma unroll
    for (int k = 0; k < T::outputs; ++k) sum[k] = bias;
    for (int i = 0; i < count; ++i) {
      const ConvolveBlock::DeepTap tap = taps[i];
      const float* from = tile + (first + tap.row) * T::pitch + lane + tap.col;
#pragma unroll
      for (int k = 0; k < T::outputs; ++k) sum[k] = sum[k] + tap.weight * from[k * T::pitch];
    }
#pragma unroll
    for (int k = 0; k < T::outputs; ++k) result[k][c] = deep_convolve_value(sum[k]);
  }
  if (area.x0 + lane >= in.extent.width) return;
#pragma unroll
  for (int k = 0; k < T::outputs; ++k)
    if (const int y = area.y0 + first + k; y < in.extent.height)
      store_deep_colours(in, out, area.x0 + lane, y, result[k], aligned);
}

}  // namespace

void Convolve::launch_deep(const PassArgs& args, CudaStream stream) const {
  using T = DeepConvolveTuning;
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), T::columns), blocks_for(in.height(), T::rows));
  const auto kernel = in.channels() == 1 ? deep_convolve_kernel<1> : deep_convolve_kernel<4>;
  kernel<<<grid, T::threads, 0, stream>>>(in.as<const uint16_t>(), args.out.as<uint16_t>(),
                                          rows_aligned(args.out, 8),
                                          static_cast<const ConvolveBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
