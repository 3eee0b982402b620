#include "kernels/common/planar_tile.cuh"
#include "kernels/convolve/convolve.hpp"

namespace lensd {
namespace {

/// A thread computes 4 × 4 pixels of each channel, a block 128 × 32. Two taps an instruction: dp2a takes a
/// pair of 16-bit weights and two bytes.
struct ConvolveTuning {
  static constexpr int threads_x = 32, threads_y = 8;
  static constexpr int rows = 4;
  static constexpr int tile_rows = threads_y * rows;
  static constexpr int words =
      threads_x + 4 + 1;  ///< eight pixels on both sides, and a word against conflicts
  static constexpr int max_rows = tile_rows + kConvolveMaxSide - 1;
};

/// sum + weights (two signed halves) · bytes 0 and 1 (or 2 and 3) of `pixels`.
template <int kHigh>
__device__ int dot2(uint32_t weights, uint32_t pixels, int sum) {
  int result;
  if constexpr (kHigh)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(pixels), "r"(sum));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(pixels), "r"(sum));
  return result;
}

/// Adds kernel row `weights` over the bytes from `even` (and `odd`, one byte on) to four pixels' sums.
__device__ void add_row(const uint32_t (&even)[5], const uint32_t (&odd)[5], const uint4* weights, int pairs,
                        int (&sums)[4]) {
  const uint4 first = weights[0], second = weights[1];
  const uint32_t w[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
  for (int q = 0; q < kConvolvePairs; ++q) {
    if (q >= pairs) break;
    // Pixel j's taps 2q, 2q+1 are bytes j+2q, j+2q+1.
    if (q % 2 == 0) {
      sums[0] = dot2<0>(w[q], even[q / 2], sums[0]), sums[1] = dot2<0>(w[q], odd[q / 2], sums[1]);
      sums[2] = dot2<1>(w[q], even[q / 2], sums[2]), sums[3] = dot2<1>(w[q], odd[q / 2], sums[3]);
    } else {
      sums[0] = dot2<1>(w[q], even[q / 2], sums[0]), sums[1] = dot2<1>(w[q], odd[q / 2], sums[1]);
      sums[2] = dot2<0>(w[q], even[q / 2 + 1], sums[2]), sums[3] = dot2<0>(w[q], odd[q / 2 + 1], sums[3]);
    }
  }
}

struct ConvolveShared {
  uint4 weights[2][kConvolveMaxSide][2];
};

/// 4 × 4 sums of one plane. `from` is the word of the thread's first pixel in the tile's row -ry, less 8
/// pixels.
__device__ void convolve_quads(const uint32_t* from, const ConvolveShared& shared, const ConvolveBlock& b,
                               int (&sums)[ConvolveTuning::rows][4]) {
  const int start = 8 - b.cols / 2, pairs = (b.cols + 1) / 2;
  const auto bits = static_cast<unsigned>(start % 4 * 8);
  from += start / 4;
  for (auto& row : sums)
    for (int& s : row) s = 0;
  for (int part = b.wide ? 0 : 1; part < 2; ++part) {
    for (int i = 0; i < ConvolveTuning::rows + b.rows - 1; ++i) {
      const uint32_t* p = from + i * ConvolveTuning::words;
      uint32_t word[6], even[5], odd[5];
#pragma unroll
      for (int k = 0; k < 6; ++k) word[k] = p[k];
#pragma unroll
      for (int k = 0; k < 5; ++k) even[k] = __funnelshift_r(word[k], word[k + 1], bits);
#pragma unroll
      for (int k = 0; k < 4; ++k) odd[k] = __funnelshift_r(even[k], even[k + 1], 8);
      odd[4] = even[4] >> 8;
#pragma unroll
      for (int r = 0; r < ConvolveTuning::rows; ++r) {
        const int k = i - r;
        if (k >= 0 && k < b.rows) add_row(even, odd, shared.weights[part][k], pairs, sums[r]);
      }
    }
    if (part == 0)
      for (auto& row : sums)
        for (int& s : row) s = static_cast<int>(static_cast<uint32_t>(s) << 15);
  }
}

template <int C>
__global__ void __launch_bounds__(ConvolveTuning::threads_x* ConvolveTuning::threads_y)
    convolve_kernel_quads(TileSource in, ImageView<uint8_t> out, bool out_aligned,
                          const ConvolveBlock* __restrict__ b) {
  constexpr int plane =
      ConvolveTuning::max_rows * ConvolveTuning::words + 4;  // six words are read at a row's end
  __shared__ uint32_t tile[kColours<C> * plane];
  __shared__ ConvolveShared shared;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
            t = ty * ConvolveTuning::threads_x + tx;
  constexpr int threads = ConvolveTuning::threads_x * ConvolveTuning::threads_y;
  const int x0 = static_cast<int>(blockIdx.x) * ConvolveTuning::threads_x * 4,
            y0 = static_cast<int>(blockIdx.y) * ConvolveTuning::tile_rows;
  for (int i = t; i < static_cast<int>(sizeof(shared.weights) / 4); i += threads)
    reinterpret_cast<uint32_t*>(shared.weights)[i] = (&b->pairs[0][0][0])[i];
  load_planar_tile<C>(in, x0 - 8, y0 - b->rows / 2, b->border, ConvolveTuning::threads_x + 4,
                      ConvolveTuning::tile_rows + b->rows - 1, tile, ConvolveTuning::words, plane, t,
                      threads);
  __syncthreads();
  const int x = x0 + 4 * tx;
  if (x >= out.extent.width) return;
  const int bias = b->bias, shift = b->shift, up = b->up;
  uint32_t results[ConvolveTuning::rows][kColours<C>];
#pragma unroll
  for (int c = 0; c < kColours<C>; ++c) {
    int sums[ConvolveTuning::rows][4];
    convolve_quads(tile + c * plane + ty * ConvolveTuning::rows * ConvolveTuning::words + tx, shared, *b,
                   sums);
#pragma unroll
    for (int r = 0; r < ConvolveTuning::rows; ++r) {
      uint32_t word = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        word |= static_cast<uint32_t>(convolve_value(sums[r][i], bias, shift, up)) << (8 * i);
      results[r][c] = word;
    }
  }
#pragma unroll
  for (int r = 0; r < ConvolveTuning::rows; ++r) {
    const int y = y0 + ty * ConvolveTuning::rows + r;
    if (y < out.extent.height) store_quad<C>(in, out, out_aligned, x, y, results[r]);
  }
}

}  // namespace

void Convolve::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(in.width(), ConvolveTuning::threads_x * 4),
                  blocks_for(in.height(), ConvolveTuning::tile_rows));
  const auto kernel = in.channels() == 4 ? convolve_kernel_quads<4> : convolve_kernel_quads<1>;
  kernel<<<grid, dim3(ConvolveTuning::threads_x, ConvolveTuning::threads_y), 0, stream>>>(
      TileSource(in), args.out.as<uint8_t>(), rows_aligned(args.out, 4),
      static_cast<const ConvolveBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
