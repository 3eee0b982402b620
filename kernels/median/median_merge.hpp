// median at radius 3 on the CPU; median_merge.cu uses the same method on CUDA. Sorted columns are merged into
// pairs, and pairs into groups of four. The median is selected from a group of four, a pair and a single
// column.
//
//   7 rows ─▶ columns[x] ─▶ pairs[x] = columns x, x+1 ─▶ fours[x] = columns x … x+3
//   median of 49 at x = the 25th of fours[x], pairs[x+4] and columns[x+6]
//
// Columns, pairs and fours are computed once for each x and shared by the windows that contain them. This
// costs about 300 minima and maxima per output sample, independent of content. Each sample is in its own
// lane. The search over thresholds (median_tiles_simd.cpp) costs up to 110 box sums at this radius, on noise.
#pragma once

#include <cstdint>

namespace lensd {

inline constexpr int kMedianMergeChunk = 512;  ///< maximum bytes of a row processed at a time

/// Sorted columns, pairs of columns and groups of four columns of a chunk. A chunk uses about 26 KB, which
/// fits in the L1 cache.
template <class S>
struct MedianMerges {
  static constexpr int chunk = kMedianMergeChunk / static_cast<int>(sizeof(S));  ///< samples of a chunk
  /// Samples of a row: the chunk, six pixels to its right, and padding.
  static constexpr int pitch = chunk + 6 * 4 + 128 / static_cast<int>(sizeof(S));
  S columns[2][7][pitch];
  S pairs[14][pitch];
  S fours[22][pitch];  ///< ranks 4 to 25 of 28, which can be the median
};

/// Computes two rows of `n` samples of 7×7 medians from eight padded rows: three pixels of border on both
/// sides and 128 readable bytes after them. `step`: samples per pixel. `out1` may be null.
void median7_rows(const uint8_t* const* rows, int n, int step, MedianMerges<uint8_t>& merges, uint8_t* out0,
                  uint8_t* out1);
void median7_rows(const uint16_t* const* rows, int n, int step, MedianMerges<uint16_t>& merges,
                  uint16_t* out0, uint16_t* out1);

}  // namespace lensd
