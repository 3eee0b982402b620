#include "kernels/bilateral/bilateral.hpp"
#include "kernels/common/tiles/planar_tile.cuh"

namespace lensd {
namespace {

/// A thread computes 4 × 2 pixels of each channel, a block 128 × 16 pixels. Weight tables are in shared
/// memory.
struct BilateralTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int rows = 2;
  static constexpr int tile_rows = threads_y * rows;
  static constexpr int border_words = 3;
  /// Words of a row in shared memory; the last word is padding.
  static constexpr int words = threads_x + 2 * border_words + 1;
  static constexpr int max_rows = tile_rows + 2 * kBilateralMaxRadius;
};

struct BilateralShared {
  uint32_t colour[256];
  BilateralBlock::Tap taps[kBilateralMaxTaps];
};

/// Returns four filtered pixels of one plane; `at` points to their word.
__device__ uint32_t bilateral_quad(const uint32_t* at, const BilateralShared& shared, int taps_count) {
  const uint32_t centre = *at;
  uint32_t sums[4] = {}, weights[4] = {};
#pragma unroll 2
  for (int t = 0; t < taps_count; ++t) {
    const BilateralBlock::Tap tap = shared.taps[t];
    const uint32_t* p = at + tap.y * BilateralTuning::words + (tap.x >> 2);
    const uint32_t four = __funnelshift_r(p[0], p[1], static_cast<unsigned>((tap.x & 3) * 8));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t v = four >> (8 * i) & 255, c = centre >> (8 * i) & 255;
      const uint32_t w = bilateral_weight(tap.weight, shared.colour[v > c ? v - c : c - v]);
      weights[i] += w, sums[i] += w * v;
    }
  }
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= static_cast<uint32_t>(bilateral_mean(sums[i], weights[i])) << (8 * i);
  return word;
}

template <int C>
__global__ void __launch_bounds__(BilateralTuning::threads_x* BilateralTuning::threads_y)
    bilateral_kernel(TileSource in, ImageView<uint8_t> out, bool out_aligned,
                     const BilateralBlock* __restrict__ b) {
  constexpr int plane = BilateralTuning::max_rows * BilateralTuning::words;
  __shared__ uint32_t tile[kColours<C> * plane];
  __shared__ BilateralShared shared;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
            t = ty * BilateralTuning::threads_x + tx;
  constexpr int threads = BilateralTuning::threads_x * BilateralTuning::threads_y;
  const int x0 = static_cast<int>(blockIdx.x) * BilateralTuning::threads_x * 4,
            y0 = static_cast<int>(blockIdx.y) * BilateralTuning::tile_rows;
  const int taps_count = b->taps_count, radius = b->radius;
  for (int i = t; i < 256; i += threads) shared.colour[i] = static_cast<uint32_t>(b->colour[i]);
  for (int i = t; i < taps_count; i += threads) shared.taps[i] = b->taps[i];
  load_planar_tile<C>(in, x0 - 4 * BilateralTuning::border_words, y0 - radius, b->border,
                      BilateralTuning::words - 1, BilateralTuning::tile_rows + 2 * radius, tile,
                      BilateralTuning::words, plane, t, threads);
  __syncthreads();
  const int x = x0 + 4 * tx;
  if (x >= out.extent.width) return;
  for (int r = 0; r < BilateralTuning::rows; ++r) {
    const int row = ty * BilateralTuning::rows + r, y = y0 + row;
    if (y >= out.extent.height) return;
    uint32_t quads[kColours<C>];
    for (int c = 0; c < kColours<C>; ++c)
      quads[c] = bilateral_quad(
          tile + c * plane + (row + radius) * BilateralTuning::words + tx + BilateralTuning::border_words,
          shared, taps_count);
    store_quad<C>(in, out, out_aligned, x, y, quads);
  }
}

}  // namespace

void Bilateral::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return launch_deep(args, stream);
  const dim3 grid(blocks_for(in.width(), BilateralTuning::threads_x * 4),
                  blocks_for(in.height(), BilateralTuning::tile_rows));
  const auto kernel = in.channels() == 4 ? bilateral_kernel<4> : bilateral_kernel<1>;
  kernel<<<grid, dim3(BilateralTuning::threads_x, BilateralTuning::threads_y), 0, stream>>>(
      TileSource(in), args.out.as<uint8_t>(), rows_aligned(args.out, 4),
      static_cast<const BilateralBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
