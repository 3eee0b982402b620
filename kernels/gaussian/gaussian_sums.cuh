// Sums of a blur on the tensor cores: weight matrices in bytes, and the samples between the two passes.
//
// Horizontal pass: the left factor holds weights. Each of its 16 rows computes one output column from
// 16 + 2 · halo pixels. The right factor holds the pixels of 8 image rows. The results are the samples; each
// lane gets samples of adjacent image rows.
//
// Vertical pass: the left factor again holds weights. The right factor holds the samples. Each lane packs its
// own samples into its words of this factor, so samples never leave the registers.
//
// Weights have 16 bits. Samples have 16 bits, of which the lowest is 0. Both are split into bytes, and the
// byte products (common/tiles/byte_products.cuh) are recombined, so that the sums are exact.
#pragma once

#include "kernels/common/tiles/byte_products.cuh"
#include "kernels/common/tiles/stage_ring.cuh"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

/// Sizes of windows with a radius up to `kHalo` (8, 16, 24 or 32).
template <int kChannels, int kHalo, bool kKeepsInput>
struct BlurShape : StageShape<kChannels, kChannels == 1 ? 128 : 64, kHalo> {
  using Stage = StageShape<kChannels, kChannels == 1 ? 128 : 64, kHalo>;
  static constexpr int planes = kChannels == 1 ? 1 : 3;
  static constexpr int windows = kChannels == 1 ? 2 : 1;  ///< windows of 16 columns per warp
  static constexpr int units = planes * windows;
  static constexpr int halves = 1 + kHalo / 8;  ///< half blocks per window
  /// True if registers suffice to overlap the vertical sums of one stage with the horizontal sums of the
  /// next.
  static constexpr bool overlapped = kHalo <= 16;
  /// Distance in stages from a window's first stage to its newest one.
  static constexpr int span = kHalo / 8 + (overlapped ? 1 : 0);
  /// Returns the distance in stages from the newest stage to the input of output row g + 8 · v.
  static constexpr int behind(int v) { return span - (kHalo + 8 * v) / 16; }
  static constexpr int stages = kStagesAhead + 1 + (kKeepsInput ? span - kHalo / 16 : 0);
  static constexpr int ring_bytes = stages * Stage::bytes;
};

/// Words of four weights, as [low or high bytes][first weight]: weights of four adjacent columns (across), or
/// of rows 0, 1, 8 and 9 (down).
struct BlurTables {
  static constexpr int entries = 16 + 16 * (1 + 32 / 8);
  uint32_t across[2][entries], down[2][entries];
};

/// Fills the tables. Entry q begins with tap q − 15 − halo + radius. A tap of 65536 becomes 65535. In this
/// case all other taps are 0, and the rounded results do not change.
__device__ inline void make_blur_tables(const GaussianBlock& block, int halo, BlurTables& tables) {
  const int radius = block.radius;
  const auto tap = [&](int i) {
    if (i < 0 || i > 2 * radius) return 0u;
    const int value = block.taps[i] + (i == radius ? block.whole_centre << 16 : 0);
    return static_cast<uint32_t>(min(value, 65535));
  };
  for (int q = static_cast<int>(threadIdx.x); q < BlurTables::entries; q += kStageThreads) {
    const int i = q - 15 - halo + radius;
    const uint32_t a = tap(i) | tap(i + 1) << 16, b = tap(i + 2) | tap(i + 3) << 16,
                   c = tap(i + 8) | tap(i + 9) << 16;
    tables.across[0][q] = __byte_perm(a, b, 0x6420), tables.across[1][q] = __byte_perm(a, b, 0x7531);
    tables.down[0][q] = __byte_perm(a, c, 0x6420), tables.down[1][q] = __byte_perm(a, c, 0x7531);
  }
}

/// A lane's part of the left factors: [low or high bytes][half block].
template <class Shape>
struct BlurWeights {
  ByteRows across[2][Shape::halves], down[2][Shape::halves];

  /// Row g of the horizontal factor computes column 4 · (g / 2) + g % 2 of its window, and row g + 8 the
  /// column two further to the right, so that a lane has the sums of four adjacent columns.
  __device__ BlurWeights(const BlurTables& tables, int g, int t) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
#pragma unroll
      for (int i = 0; i < Shape::halves; ++i)
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          across[part][i][m] = tables.across[part][15 + 16 * i + 4 * t - (g / 2 * 4 + g % 2 + 2 * m)];
          down[part][i][m] = tables.down[part][15 + 16 * i + 2 * t - (g + 8 * m)];
        }
  }
};

/// A lane's part of the rows of a vertical window: [window or plane][first or second pair of columns][low or
/// high bytes][half block of rows].
template <class Shape>
struct BlurSamples {
  uint32_t of[Shape::units][2][2][Shape::halves];

  /// Appends the horizontal sums of 16 rows as a half block. `line` is the lane's first word in the stage.
  __device__ void add_rows(const BlurWeights<Shape>& weights, const uint8_t* line) {
    constexpr int kWords = Shape::halves + Shape::windows - 1;
    uint32_t words[2][Shape::planes][kWords];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        uint32_t planes[Shape::planes];
        planes_of_four<Shape::channels>(line + 8 * j * Shape::pitch + 16 * Shape::channels * i, planes);
#pragma unroll
        for (int p = 0; p < Shape::planes; ++p) words[j][p][i] = planes[p];
      }
#pragma unroll
    for (int u = 0; u < Shape::units; ++u) {
      uint32_t sums[2][4];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const uint32_t* from = words[j][u % Shape::planes] + u / Shape::planes;
        ByteSums low = {256, 256, 256, 256}, high = {};  // 256: half a unit of the samples, for rounding
        multiply<Shape::halves>(low, weights.across[0], from);
        multiply<Shape::halves>(high, weights.across[1], from);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[j][i] = static_cast<uint32_t>(high[i]) * 256 + static_cast<uint32_t>(low[i]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {  // a sample is bytes 1 and 2 of a sum, with the lowest bit cleared
        const uint32_t p0 = __byte_perm(sums[0][2 * n], sums[0][2 * n + 1], 0x6521),
                       p1 = __byte_perm(sums[1][2 * n], sums[1][2 * n + 1], 0x6521);
#pragma unroll
        for (auto& part : of[u][n])
#pragma unroll
          for (int i = 0; i + 1 < Shape::halves; ++i) part[i] = part[i + 1];
        of[u][n][0][Shape::halves - 1] = __byte_perm(p0, p1, 0x6420) & 0xfefefefeu;
        of[u][n][1][Shape::halves - 1] = __byte_perm(p0, p1, 0x7531);
      }
    }
  }

  /// Computes vertical sums. Writes four blurred pixels of rows g and g + 8 to `rows`, one word each.
  __device__ void sum_down(const BlurWeights<Shape>& weights, uint32_t (&rows)[2][Shape::units]) const {
#pragma unroll
    for (int u = 0; u < Shape::units; ++u) {
      uint32_t sums[2][4];
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        ByteSums low = {1 << 23, 1 << 23, 1 << 23, 1 << 23}, middle = {}, high = {};
        multiply<Shape::halves>(low, weights.down[0], of[u][n][0]);
        multiply<Shape::halves>(middle, weights.down[0], of[u][n][1]);
        multiply<Shape::halves>(high, weights.down[1], of[u][n][1]);
        multiply<Shape::halves>(middle, weights.down[1], of[u][n][0]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[n][i] = static_cast<uint32_t>(high[i]) * 65536 + static_cast<uint32_t>(middle[i]) * 256 +
                       static_cast<uint32_t>(low[i]);
      }
#pragma unroll
      for (int v = 0; v < 2; ++v)  // the pixel is the highest byte, since samples are doubled
        rows[v][u] = __byte_perm(__byte_perm(sums[0][2 * v], sums[0][2 * v + 1], 0x0073),
                                 __byte_perm(sums[1][2 * v], sums[1][2 * v + 1], 0x0073), 0x5410);
    }
  }
};

}  // namespace lensd
