#include "kernels/bilateral/bilateral.hpp"
#include "kernels/bilateral/deep_bilateral.hpp"
#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {
namespace {

/// A thread computes four samples of a column, eight rows apart. A block computes 32 × 32 samples of one
/// channel.
struct DeepBilateralTuning {
  static constexpr int threads_x = 32, threads_y = 8, threads = threads_x * threads_y;
  static constexpr int pixels = 4, side = threads_y * pixels;
  static constexpr int max_side =
      side + 2 * kBilateralMaxRadius;  ///< rows and columns of the tile in shared memory
  static_assert(side == threads_x);
};

struct DeepBilateralShared {
  float tile[DeepBilateralTuning::max_side * DeepBilateralTuning::max_side];
  int offsets[kBilateralMaxTaps - 1];  ///< offset of each tap in the tile
  float spaces[kBilateralMaxTaps - 1];
};

struct DeepBilateralJob {
  ImageView<const uint16_t> in;
  ImageView<uint16_t> out;
  int channels;
  const BilateralBlock* block;
};

/// Loads the taps, and the block's tile with its border. blockIdx.z is the tile's channel.
__device__ void load_shared(const DeepBilateralJob& job, int x0, int y0, DeepBilateralShared& shared) {
  using T = DeepBilateralTuning;
  const int t = static_cast<int>(threadIdx.y * T::threads_x + threadIdx.x);
  const int radius = job.block->radius, side = T::side + 2 * radius, count = job.block->deep_count;
  const Border border = job.block->border;
  const Extent extent = job.in.extent;
  for (int i = t; i < count; i += T::threads) {
    const BilateralBlock::DeepTap tap = job.block->deep_taps[i];
    shared.offsets[i] = tap.y * T::max_side + tap.x, shared.spaces[i] = tap.space;
  }
  for (int row = static_cast<int>(threadIdx.y); row < side; row += T::threads_y) {
    const int y = border_index(y0 - radius + row, extent.height, border);
    for (int column = static_cast<int>(threadIdx.x); column < side; column += T::threads_x) {
      const int x = border_index(x0 - radius + column, extent.width, border);
      const int v = x < 0 || y < 0 ? 0 : job.in.row(y)[x * job.channels + static_cast<int>(blockIdx.z)];
      shared.tile[row * T::max_side + column] = static_cast<float>(v);
    }
  }
}

__global__ void __launch_bounds__(DeepBilateralTuning::threads) deep_bilateral_kernel(DeepBilateralJob job) {
  using T = DeepBilateralTuning;
  __shared__ DeepBilateralShared shared;
  const int x0 = static_cast<int>(blockIdx.x) * T::side, y0 = static_cast<int>(blockIdx.y) * T::side;
  load_shared(job, x0, y0, shared);
  __syncthreads();
  const int radius = job.block->radius, count = job.block->deep_count;
  const float colour = job.block->deep_colour;
  const float* const first = shared.tile + (radius + static_cast<int>(threadIdx.y)) * T::max_side + radius +
                             static_cast<int>(threadIdx.x);
  float centre[T::pixels], sums[T::pixels] = {}, weights[T::pixels];
#pragma unroll
  for (int i = 0; i < T::pixels; ++i) centre[i] = first[i * T::threads_y * T::max_side], weights[i] = 1;
#pragma unroll 2
  for (int t = 0; t < count; ++t) {
    const float* const at = first + shared.offsets[t];
    const float space = shared.spaces[t];
#pragma unroll
    for (int i = 0; i < T::pixels; ++i) {
      const float d = at[i * T::threads_y * T::max_side] - centre[i];
      const float w = deep_bilateral_exp2(d * d * colour + space);
      weights[i] += w, sums[i] += w * d;
    }
  }
  const int x = x0 + static_cast<int>(threadIdx.x), channel = static_cast<int>(blockIdx.z);
  if (x >= job.out.extent.width) return;
#pragma unroll
  for (int i = 0; i < T::pixels; ++i) {
    const int y = y0 + static_cast<int>(threadIdx.y) + i * T::threads_y;
    if (y >= job.out.extent.height) return;
    uint16_t* const to = job.out.row(y) + x * job.channels;
    to[channel] = static_cast<uint16_t>(deep_bilateral_mean(centre[i], sums[i], weights[i]));
    if (job.channels == 4 && channel == 0) to[3] = job.in.row(y)[4 * x + 3];
  }
}

}  // namespace

void Bilateral::launch_deep(const PassArgs& args, CudaStream stream) const {
  using T = DeepBilateralTuning;
  const ConstImageRef in = args.in[0];
  const DeepBilateralJob job{in.as<const uint16_t>(), args.out.as<uint16_t>(), in.channels(),
                             static_cast<const BilateralBlock*>(args.block)};
  const dim3 threads(T::threads_x, T::threads_y);
  const dim3 grid(blocks_for(in.width(), T::side), blocks_for(in.height(), T::side),
                  in.channels() == 4 ? 3 : 1);
  deep_bilateral_kernel<<<grid, threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
