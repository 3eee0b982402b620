// The CUDA side of box for images with 16 bits: column sums, then sums along the row.
#include "kernels/box/box.hpp"
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/launch.cuh"

namespace lensd {
namespace {

struct DeepBoxTuning {
  static constexpr int column_threads = 128;
  static constexpr int column_rows = 32;
  static constexpr int row_threads = 128;
  static constexpr int row_pixels = 256;  ///< per block; a thread slides over its share
  static constexpr int span = row_pixels + 2 * kBoxMaxRadius;
};

/// Writes the sums of 2r+1 rows; a thread slides down one column of samples.
__global__ void __launch_bounds__(DeepBoxTuning::column_threads)
    deep_columns_kernel(ImageView<const uint16_t> in, int row_samples, ImageView<uint32_t> sums,
                        const BoxBlock* __restrict__ block) {
  const int i = static_cast<int>(blockIdx.x * DeepBoxTuning::column_threads + threadIdx.x);
  if (i >= row_samples) return;
  const int height = in.extent.height, r = block->radius;
  const Border border = block->border;
  const auto at = [&](int y) -> uint32_t {
    const int inside = y >= 0 && y < height ? y : called_border_index(y, height, border);
    return inside < 0 ? 0 : in.row(inside)[i];
  };
  const int begin = static_cast<int>(blockIdx.y) * DeepBoxTuning::column_rows;
  const int end = min(begin + DeepBoxTuning::column_rows, height);
  uint32_t sum = 0;
#pragma unroll 4
  for (int y = begin - r; y < begin + r; ++y) sum += at(y);
  for (int y = begin; y < end; ++y) {
    sum += at(y + r);
    sums.row(y)[i] = sum;
    sum -= at(y - r);
  }
}

/// Writes the means of one channel of DeepBoxTuning::row_pixels pixels; blockIdx.z is the channel.
__global__ void __launch_bounds__(DeepBoxTuning::row_threads)
    deep_rows_kernel(ImageView<const uint16_t> in, ImageView<const uint32_t> sums, ImageView<uint16_t> out,
                     int step, const BoxBlock* __restrict__ params) {
  __shared__ uint32_t columns[DeepBoxTuning::span];
  const BoxBlock block = *params;
  const int width = in.extent.width, c = static_cast<int>(blockIdx.z), y = static_cast<int>(blockIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * DeepBoxTuning::row_pixels;
  const int pixels = min(DeepBoxTuning::row_pixels, width - x0);
  if (c == 3) {
    for (int x = static_cast<int>(threadIdx.x); x < pixels; x += DeepBoxTuning::row_threads)
      out.row(y)[(x0 + x) * 4 + 3] = in.row(y)[(x0 + x) * 4 + 3];
    return;
  }
  for (int i = static_cast<int>(threadIdx.x); i < pixels + 2 * block.radius;
       i += DeepBoxTuning::row_threads) {
    const int x = border_index(x0 - block.radius + i, width, block.border);
    columns[i] = x < 0 ? 0 : sums.row(y)[x * step + c];
  }
  __syncthreads();
  constexpr int kShare = DeepBoxTuning::row_pixels / DeepBoxTuning::row_threads;
  const int first = static_cast<int>(threadIdx.x) * kShare;
  uint32_t sum = 0;
  if (first < pixels)
    for (int i = 0; i < 2 * block.radius; ++i) sum += columns[first + i];
  for (int i = first; i < min(first + kShare, pixels); ++i) {
    sum += columns[i + 2 * block.radius];
    out.row(y)[(x0 + i) * step + c] = deep_box_mean(sum, block);
    sum -= columns[i];
  }
}

}  // namespace

void Box::launch_deep_columns(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int samples = static_cast<int>(in.format.row_samples());
  const dim3 grid(blocks_for(samples, DeepBoxTuning::column_threads),
                  blocks_for(in.height(), DeepBoxTuning::column_rows));
  const ImageView<uint32_t> sums{reinterpret_cast<uint32_t*>(args.scratch[0]), sums_pitch(in.format),
                                 in.format.extent};
  deep_columns_kernel<<<grid, DeepBoxTuning::column_threads, 0, stream>>>(
      in.as<const uint16_t>(), samples, sums, static_cast<const BoxBlock*>(args.block));
  LENSD_LAUNCHED();
}

void Box::launch_deep_rows(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), DeepBoxTuning::row_pixels), static_cast<unsigned>(in.height()),
                  static_cast<unsigned>(in.channels()));
  const ImageView<const uint32_t> sums{reinterpret_cast<const uint32_t*>(args.scratch[0]),
                                       sums_pitch(in.format), in.format.extent};
  deep_rows_kernel<<<grid, DeepBoxTuning::row_threads, 0, stream>>>(in.as<const uint16_t>(), sums,
                                                                    args.out.as<uint16_t>(), in.channels(),
                                                                    static_cast<const BoxBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
