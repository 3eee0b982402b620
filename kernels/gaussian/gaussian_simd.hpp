// CPU implementation of gaussian: a band of rows in column chunks that fit in the L2 cache.
//
//   two image rows ─ pairs of neighbours ─ horizontal sums ─▶ ring of row pairs ─ vertical sums ─▶ two rows
//
// All sums are signed 16-bit pair products (pmaddwd). A horizontal pair is two neighbours in a row. A
// vertical pair is two samples of a column; the rows of a pair are interleaved in the ring, so each loaded
// pair serves both output rows.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

/// Samples (bytes) of a column chunk; the ring of 32 row pairs then takes 136 KiB.
inline constexpr int kGaussianChunk = 1024;
inline constexpr int kGaussianSlack = 64;  ///< samples that the last vectors may write beyond a row
inline constexpr int kGaussianPairs = kGaussianMaxRadius + 1;

/// Private memory of a worker, for any image and radius.
struct alignas(64) GaussianScratch {
  uint8_t padded[kGaussianChunk + 8 * kGaussianPairs + kGaussianSlack];
  uint32_t neighbours[2][kGaussianChunk + 8 * kGaussianPairs + kGaussianSlack];
  uint32_t ring[kGaussianPairs][kGaussianChunk + kGaussianSlack];
  uint8_t blurred[2][kGaussianChunk + kGaussianSlack];
};

/// Taps as pairs of 16-bit words (the first in the low half), for windows that begin on an even or an odd
/// row.
struct GaussianTapPairs {
  int count;  ///< number of pairs: radius + 1
  int radius;
  bool whole_centre;
  uint32_t even[kGaussianPairs], odd[kGaussianPairs];

  static GaussianTapPairs make(const GaussianBlock& block) {
    GaussianTapPairs pairs{
        .count = block.radius + 1, .radius = block.radius, .whole_centre = block.whole_centre != 0};
    const auto join = [](int low, int high) {
      return (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
    };
    for (int k = 0; k < pairs.count; ++k) {
      pairs.even[k] = join(block.taps[2 * k], block.taps[2 * k + 1]);
      pairs.odd[k] = join(k > 0 ? block.taps[2 * k - 1] : 0, block.taps[2 * k]);
    }
    return pairs;
  }
};

/// Blurs the rows of `band`. `worker` is the worker's GaussianScratch.
void gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block, uint8_t* worker);

}  // namespace lensd
