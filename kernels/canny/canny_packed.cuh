// Gradient and non-maximum suppression for aperture 3 and the L1 norm (the defaults), two pixels per register
// (common/tiles/gradient_pairs.cuh). A thread computes 4 × 4 pixels: it keeps their derivatives in registers
// and writes their magnitudes to shared memory.
#pragma once

#include "kernels/common/tiles/gradient_pairs.cuh"

namespace lensd {

/// Magnitudes and classes of a block's 128 × 32 pixels. Magnitudes have a border of one word (left, right)
/// and one row (above, below).
struct CannyPacked {
  static constexpr int words = 34, rows = 34, segment = 4, segments = 32 / segment;
  uint2 magnitudes[rows][words];  ///< magnitudes of four columns: columns 0 and 2 in x, 1 and 3 in y
  uint8_t kinds[32][32];          ///< classes of four pixels: weak in bits 0 to 3, strong in bits 4 to 7
};

/// Returns two 16-bit masks: the lower half is all ones if `low` is negative, the upper half if `high` is.
__device__ __forceinline__ uint32_t signs_of(int low, int high) {
  uint32_t mask;
  asm("prmt.b32 %0, %1, %2, 0xffbb;" : "=r"(mask) : "r"(low), "r"(high));
  return mask;
}
__device__ __forceinline__ uint32_t chosen(uint32_t mask, uint32_t a, uint32_t b) {
  return (a & mask) | (b & ~mask);
}

/// Returns |v - bias| of both halves.
__device__ __forceinline__ uint32_t magnitudes_of(uint32_t v, int bias) {
  const uint32_t twice = static_cast<uint32_t>(2 * bias) * GradientPairs::pair;
  return __vmaxu2(v, twice - v) - static_cast<uint32_t>(bias) * GradientPairs::pair;
}

/// Returns the pixels of row `y` around word `w`. The tile extends the block by four pixels on every side.
__device__ __forceinline__ ColumnPairs<1> canny_pixels(const uint32_t* tile, int pitch, int w, int y) {
  constexpr uint32_t kBytes = 0x00ff00ffu;
  const uint32_t* at = tile + (y + 4) * pitch + w;
  // Results at the tile's outermost columns are not used.
  const uint32_t left = at[w > 0 ? -1 : 0], right = at[w + 1 < pitch ? 1 : 0];
  ColumnPairs<1> pairs;
  pairs.even[0] = at[0] & kBytes, pairs.odd[0] = at[0] >> 8 & kBytes;
  pairs.sides = __byte_perm(left, right, 0x0403) & kBytes;
  return pairs;
}

/// Clears the values of pixels outside the image. (x, y) is the first of the four pixels.
__device__ __forceinline__ uint2 inside_only(uint2 pairs, int x, int y, Extent extent) {
  if (y < 0 || y >= extent.height) return make_uint2(0, 0);
  const auto half = [&](int column) { return x + column >= 0 && x + column < extent.width ? 0xffffu : 0u; };
  return make_uint2(pairs.x & (half(0) | half(2) << 16), pairs.y & (half(1) | half(3) << 16));
}

/// A row's magnitudes around four pixels. `left`: left neighbours of the even columns. `right`: right
/// neighbours of the odd columns.
struct CannyLine {
  uint32_t even, odd, left, right;

  __device__ __forceinline__ explicit CannyLine(const uint2* at) {
    even = at->x, odd = at->y;
    left = __byte_perm(at[-1].y, odd, 0x5432), right = __byte_perm(even, at[1].x, 0x5432);
  }
};

/// Magnitudes of a pair of pixels and of their neighbours.
struct CannyNeighbours {
  uint32_t at, left, right, above, below, above_left, above_right, below_left, below_right;
};

/// Computes canny_class() of two pixels, in bits 15 and 31 of `weak` and `strong`. `x` and `y` are their
/// derivatives, biased as in GradientPairs. `low` and `high` hold threshold + 1 in both halves, at most
/// 0x7fff.
__device__ __forceinline__ void classify(const CannyNeighbours& m, uint32_t x, uint32_t y, uint32_t low,
                                         uint32_t high, uint32_t& weak, uint32_t& strong) {
  constexpr uint32_t kGuard = 0x80008000u;
  const uint32_t ax = magnitudes_of(x, GradientPairs::x_bias), ay = magnitudes_of(y, GradientPairs::y_bias);
  const auto flat = [](uint32_t dx, uint32_t dy) {  // negative if the gradient is nearly horizontal
    return static_cast<int>(dy * 32768u) - static_cast<int>(dx * 13573u);
  };
  const uint32_t x0 = ax & 0xffff, x1 = ax >> 16;
  const int flat0 = flat(x0, ay & 0xffff), flat1 = flat(x1, ay >> 16);
  const uint32_t across = signs_of(flat0, flat1);
  const uint32_t down = signs_of(static_cast<int>(x0 << 16) - flat0, static_cast<int>(x1 << 16) - flat1);
  // The biases set bit 10 of x and bit 12 of y if the derivative is not negative.
  const uint32_t falling = ((x << 2 ^ y) >> 12 & GradientPairs::pair) * 0xffffu;
  const uint32_t first =
      chosen(across, m.left, chosen(down, m.above, chosen(falling, m.above_right, m.above_left)));
  const uint32_t second =
      chosen(across, m.right, chosen(down, m.below, chosen(falling, m.below_left, m.below_right)));
  const uint32_t least =
      __vmaxu2(__vmaxu2(first + GradientPairs::pair, second + (~(across | down) & GradientPairs::pair)), low);
  const uint32_t guarded = m.at | kGuard, kept = (guarded - least) & kGuard;
  strong = kept & (guarded - high), weak = kept & ~strong;
}

/// Moves bits 15 and 31 of `even` (columns 0 and 2) and `odd` (columns 1 and 3) to bits 0 to 3.
__device__ __forceinline__ uint32_t four_bits(uint32_t even, uint32_t odd) {
  const uint32_t both = even >> 15 | odd >> 14;
  return (both | both >> 14) & 15;
}

/// Packs the low four bits of each of eight bytes into a word.
__device__ __forceinline__ uint32_t bits_of(uint2 fours) {
  const auto sixteen = [](uint32_t v) {
    v = (v | v >> 4) & 0x00ff00ffu;
    return (v | v >> 8) & 0xffffu;
  };
  return sixteen(fours.x & 0x0f0f0f0fu) | sixteen(fours.y & 0x0f0f0f0fu) << 16;
}

/// Fills s.kinds from the input tile of the block at (x0, y0). Call from all threads of the block, at least
/// 272; the caller synchronises.
__device__ inline void canny_kinds(const uint32_t* tile, int pitch, CannyPacked& s, int x0, int y0,
                                   Extent extent, int low, int high) {
  constexpr int kRows = CannyPacked::segment;
  const int t = static_cast<int>(threadIdx.x), w = t % CannyPacked::words, y = t / CannyPacked::words * kRows;
  const bool own = t < CannyPacked::words * CannyPacked::segments;
  const bool whole = x0 >= 4 && x0 + 132 <= extent.width && y0 >= 1 && y0 + 33 <= extent.height;
  const auto gradient = [&](const ColumnPairs<1>& above, const ColumnPairs<1>& at,
                            const ColumnPairs<1>& below) {
    return GradientPairs(smoothed(above, at, below), derived(above, below), 0);
  };
  const auto put = [&](const GradientPairs& g, int word, int row) {
    uint2 m = make_uint2(
        magnitudes_of(g.x[0], GradientPairs::x_bias) + magnitudes_of(g.y[0], GradientPairs::y_bias),
        magnitudes_of(g.x[1], GradientPairs::x_bias) + magnitudes_of(g.y[1], GradientPairs::y_bias));
    if (!whole) m = inside_only(m, x0 + 4 * (word - 1), y0 + row, extent);
    s.magnitudes[row + 1][word] = m;
  };
  GradientPairs g[kRows] = {};
  if (own) {
    ColumnPairs<1> above = canny_pixels(tile, pitch, w, y - 1), at = canny_pixels(tile, pitch, w, y);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const ColumnPairs<1> below = canny_pixels(tile, pitch, w, y + r + 1);
      g[r] = gradient(above, at, below);
      put(g[r], w, y + r);
      above = at, at = below;
    }
  }
  if (t < 2 * CannyPacked::words) {  // the rows above and below the block
    const int row = t < CannyPacked::words ? -1 : 32;
    put(gradient(canny_pixels(tile, pitch, w, row - 1), canny_pixels(tile, pitch, w, row),
                 canny_pixels(tile, pitch, w, row + 1)),
        w, row);
  }
  __syncthreads();
  if (!own || w == 0 || w == CannyPacked::words - 1) return;
  const uint32_t least = static_cast<uint32_t>(min(low + 1, 0x7fff)) * GradientPairs::pair,
                 most = static_cast<uint32_t>(min(high + 1, 0x7fff)) * GradientPairs::pair;
  CannyLine above(&s.magnitudes[y][w]), at(&s.magnitudes[y + 1][w]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const CannyLine below(&s.magnitudes[y + r + 2][w]);
    uint32_t weak[2], strong[2];
    classify({at.even, at.left, at.odd, above.even, below.even, above.left, above.odd, below.left, below.odd},
             g[r].x[0], g[r].y[0], least, most, weak[0], strong[0]);
    classify(
        {at.odd, at.even, at.right, above.odd, below.odd, above.even, above.right, below.even, below.right},
        g[r].x[1], g[r].y[1], least, most, weak[1], strong[1]);
    s.kinds[y + r][w - 1] =
        static_cast<uint8_t>(four_bits(weak[0], weak[1]) | four_bits(strong[0], strong[1]) << 4);
    above = at, at = below;
  }
}

}  // namespace lensd
