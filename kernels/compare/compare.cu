#include "kernels/common/chunk.cuh"
#include "kernels/compare/compare.hpp"

namespace lensd {
namespace {

/// A thread sums one block of 4×4 pixels. A warp's blocks are adjacent, so that its loads are contiguous.
struct CompareTuning {
  static constexpr int columns = 32, rows = 8;
};

__device__ unsigned long long warp_sum(unsigned long long value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__device__ void add_by_warp(void* total, unsigned long long value) {
  value = warp_sum(value);  // two's complement: correct for signed sums as well
  if (threadIdx.x == 0 && value != 0) atomicAdd(static_cast<unsigned long long*>(total), value);
}

__global__ void __launch_bounds__(CompareTuning::columns* CompareTuning::rows)
    blocks_kernel(ImageView<const uint8_t> a, ImageView<const uint8_t> b, bool gray, bool aligned,
                  const CompareBlock* block, BlockSums* sums, Comparison* total) {
  const int bx = static_cast<int>(blockIdx.x * CompareTuning::columns + threadIdx.x);
  const int by = static_cast<int>(blockIdx.y * CompareTuning::rows + threadIdx.y);
  const int width = a.extent.width, height = a.extent.height;
  const int x0 = kCompareBlock * bx, y0 = kCompareBlock * by;
  const LumaBlock weights = block->luma;
  uint32_t squares[3] = {};
  BlockSums own{};
  for (int y = y0; y < min(y0 + kCompareBlock, height); ++y)
    for (int x = x0; x < min(x0 + kCompareBlock, width); ++x) {
      if (gray) {
        const int p = a.row(y)[x], q = b.row(y)[x];
        squares[0] += static_cast<uint32_t>((p - q) * (p - q));
        own.add(static_cast<uint32_t>(p), static_cast<uint32_t>(q));
        continue;
      }
      const uint32_t p = load_word(a.row(y) + 4 * x, aligned), q = load_word(b.row(y) + 4 * x, aligned);
      int u[3], v[3];
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        u[c] = static_cast<int>(p >> 8 * c & 255), v[c] = static_cast<int>(q >> 8 * c & 255);
        squares[c] += static_cast<uint32_t>((u[c] - v[c]) * (u[c] - v[c]));
      }
      own.add(static_cast<uint32_t>(luma(weights, u[0], u[1], u[2])),
              static_cast<uint32_t>(luma(weights, v[0], v[1], v[2])));
    }
  if (bx < compare_blocks(width) && by < compare_blocks(height))
    sums[static_cast<size_t>(by) * compare_blocks(width) + bx] = own;
  for (int c = 0; c < (gray ? 1 : 3); ++c) add_by_warp(&total->squares[c], squares[c]);
  if (bx == 0 && by == 0) {
    total->samples = static_cast<uint64_t>(width) * height;
    total->channels = gray ? 1 : 3;
    total->windows = static_cast<uint64_t>(compare_windows(width)) * compare_windows(height);
  }
}

__global__ void __launch_bounds__(CompareTuning::columns* CompareTuning::rows)
    windows_kernel(const BlockSums* sums, int blocks, int windows_x, int windows_y, Comparison* total) {
  const int x = static_cast<int>(blockIdx.x * CompareTuning::columns + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * CompareTuning::rows + threadIdx.y);
  int64_t ssim = 0;
  if (x < windows_x && y < windows_y) {
    const BlockSums* upper = sums + static_cast<size_t>(y) * blocks + x;
    BlockSums window = upper[0];
    window.add(upper[1]), window.add(upper[blocks]), window.add(upper[blocks + 1]);
    ssim = window_ssim(window);
  }
  add_by_warp(&total->ssim_q24, static_cast<unsigned long long>(ssim));
}

}  // namespace

void Compare::launch_sum_blocks(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef a = args.in[0], b = args.in[1];
  const dim3 grid(blocks_for(a.width(), kCompareBlock * CompareTuning::columns),
                  blocks_for(a.height(), kCompareBlock * CompareTuning::rows));
  blocks_kernel<<<grid, dim3(CompareTuning::columns, CompareTuning::rows), 0, stream>>>(
      a.as<const uint8_t>(), b.as<const uint8_t>(), a.channels() == 1,
      rows_aligned(a, 4) && rows_aligned(b, 4), static_cast<const CompareBlock*>(args.block),
      reinterpret_cast<BlockSums*>(args.scratch[0]), static_cast<Comparison*>(args.stats));
  LENSD_LAUNCHED();
}

void Compare::launch_sum_windows(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int windows_x = compare_windows(in.width()), windows_y = compare_windows(in.height());
  if (windows_x == 0 || windows_y == 0) return;
  const dim3 grid(blocks_for(windows_x, CompareTuning::columns), blocks_for(windows_y, CompareTuning::rows));
  windows_kernel<<<grid, dim3(CompareTuning::columns, CompareTuning::rows), 0, stream>>>(
      reinterpret_cast<const BlockSums*>(args.scratch[0]), compare_blocks(in.width()), windows_x, windows_y,
      static_cast<Comparison*>(args.stats));
  LENSD_LAUNCHED();
}

}  // namespace lensd
