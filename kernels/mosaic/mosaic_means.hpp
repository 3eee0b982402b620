// The means of mosaic on the CPU, for 8 and 16 bits.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/mosaic/mosaic.hpp"

namespace lensd {

/// Computes the means of a row of blocks, which are `rows` pixels high, from their column sums. means[i]
/// receives the mean of the block that contains sample i of a row. Adds the sums to `stats`.
template <int kChannels, class Sum, class Sample>
void average_blocks(const Sum* columns, int width, int block, int rows, Sample* means, MosaicStats& stats) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  for (int x = 0; x < width; x += block) {
    const int end = std::min(width, x + block);
    uint32_t sums[kChannels] = {};
    for (int i = x; i < end; ++i)
      for (int c = 0; c < kColours; ++c) sums[c] += columns[i * kChannels + c];
    Sample pixel[kChannels] = {};
    for (int c = 0; c < kColours; ++c) {
      pixel[c] = static_cast<Sample>(rounded_mean(sums[c], static_cast<uint32_t>((end - x) * rows)));
      stats.sums[c] += sums[c];
    }
    for (int i = x; i < end; ++i) std::memcpy(means + i * kChannels, pixel, sizeof pixel);
  }
}

}  // namespace lensd
