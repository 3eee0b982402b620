#include <type_traits>

#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/pixels.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/compare/compare.hpp"

namespace lensd {
namespace {

/// A thread sums one block of 4×4 pixels. A warp's blocks are adjacent, so its loads are contiguous.
struct CompareTuning {
  static constexpr int columns = 32, rows = 8;
};

__device__ void add_by_warp(void* total, unsigned long long value) {
  value = warp_sum(value);  // two's complement: correct for signed sums as well
  if (threadIdx.x == 0 && value != 0) atomicAdd(static_cast<unsigned long long*>(total), value);
}

/// A pixel's colour samples as integers. A grey pixel uses only v[0].
struct CompareSamples {
  int v[3];
};
__device__ CompareSamples compare_samples(const uint8_t* row, int x, bool gray, bool aligned) {
  if (gray) return {{row[x], 0, 0}};
  const uint32_t p = load_word(row + 4 * x, aligned);
  return {{static_cast<int>(p & 255), static_cast<int>(p >> 8 & 255), static_cast<int>(p >> 16 & 255)}};
}
__device__ CompareSamples compare_samples(const uint16_t* row, int x, bool gray, bool aligned) {
  if (gray) return {{row[x], 0, 0}};
  const DeepPixel p = load_deep(row + 4 * x, aligned);
  return {{p.v[0], p.v[1], p.v[2]}};
}

/// Returns the luma of a pixel. S is the type of the samples.
template <class S>
__device__ uint32_t compare_luma(const LumaBlock& w, const CompareSamples& p, bool gray) {
  if constexpr (sizeof(S) == 2)
    return gray ? static_cast<uint32_t>(p.v[0]) : luma16(w, p.v[0], p.v[1], p.v[2]);
  else
    return static_cast<uint32_t>(gray ? p.v[0] : luma(w, p.v[0], p.v[1], p.v[2]));
}

template <class S>
__global__ void __launch_bounds__(CompareTuning::columns* CompareTuning::rows)
    blocks_kernel(ImageView<const S> a, ImageView<const S> b, bool gray, bool aligned,
                  const CompareBlock* block, BlockSums<S>* sums, Comparison* total) {
  using Squares = std::conditional_t<sizeof(S) == 2, unsigned long long, uint32_t>;
  const int bx = static_cast<int>(blockIdx.x * CompareTuning::columns + threadIdx.x);
  const int by = static_cast<int>(blockIdx.y * CompareTuning::rows + threadIdx.y);
  const int width = a.extent.width, height = a.extent.height;
  const int x0 = kCompareBlock * bx, y0 = kCompareBlock * by;
  const LumaBlock weights = block->luma;
  Squares squares[3] = {};
  BlockSums<S> own{};
  for (int y = y0; y < min(y0 + kCompareBlock, height); ++y)
    for (int x = x0; x < min(x0 + kCompareBlock, width); ++x) {
      const CompareSamples p = compare_samples(a.row(y), x, gray, aligned);
      const CompareSamples q = compare_samples(b.row(y), x, gray, aligned);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const int d = p.v[c] - q.v[c];
        squares[c] += static_cast<Squares>(d) * static_cast<Squares>(d);
      }
      own.add(compare_luma<S>(weights, p, gray), compare_luma<S>(weights, q, gray));
    }
  if (bx < compare_blocks(width) && by < compare_blocks(height))
    sums[static_cast<size_t>(by) * compare_blocks(width) + bx] = own;
  for (int c = 0; c < (gray ? 1 : 3); ++c) add_by_warp(&total->squares[c], squares[c]);
  if (bx == 0 && by == 0) {
    total->samples = static_cast<uint64_t>(width) * height;
    total->channels = gray ? 1 : 3;
    total->white = sizeof(S) == 2 ? 65535 : 255;
    total->windows = static_cast<uint64_t>(compare_windows(width)) * compare_windows(height);
  }
}

template <class S>
__global__ void __launch_bounds__(CompareTuning::columns* CompareTuning::rows)
    windows_kernel(const BlockSums<S>* sums, int blocks, int windows_x, int windows_y, Comparison* total) {
  const int x = static_cast<int>(blockIdx.x * CompareTuning::columns + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * CompareTuning::rows + threadIdx.y);
  int64_t ssim = 0;
  if (x < windows_x && y < windows_y) {
    const BlockSums<S>* upper = sums + static_cast<size_t>(y) * blocks + x;
    BlockSums<S> window = upper[0];
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
  with_sample_type(a.format.format, [&]<class S>() {
    blocks_kernel<S><<<grid, dim3(CompareTuning::columns, CompareTuning::rows), 0, stream>>>(
        a.as<const S>(), b.as<const S>(), a.channels() == 1,
        rows_aligned(a, 4 * sizeof(S)) && rows_aligned(b, 4 * sizeof(S)),
        static_cast<const CompareBlock*>(args.block), reinterpret_cast<BlockSums<S>*>(args.scratch[0]),
        static_cast<Comparison*>(args.stats));
  });
  LENSD_LAUNCHED();
}

void Compare::launch_sum_windows(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int windows_x = compare_windows(in.width()), windows_y = compare_windows(in.height());
  if (windows_x == 0 || windows_y == 0) return;
  const dim3 grid(blocks_for(windows_x, CompareTuning::columns), blocks_for(windows_y, CompareTuning::rows));
  with_sample_type(in.format.format, [&]<class S>() {
    windows_kernel<S><<<grid, dim3(CompareTuning::columns, CompareTuning::rows), 0, stream>>>(
        reinterpret_cast<const BlockSums<S>*>(args.scratch[0]), compare_blocks(in.width()), windows_x,
        windows_y, static_cast<Comparison*>(args.stats));
  });
  LENSD_LAUNCHED();
}

}  // namespace lensd
