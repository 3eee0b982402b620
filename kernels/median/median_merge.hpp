// median at radius 3 on the CPU (median_merge.cu does the same on CUDA): sorted columns are merged into pairs
// and pairs into fours; the median is selected from four columns, two and one.
//
//   7 rows ─▶ columns[x] ─▶ pairs[x] = columns x, x+1 ─▶ fours[x] = columns x … x+3
//   median of 49 at x = the 25th of fours[x], pairs[x+4] and columns[x+6]
//
// Columns, pairs and fours are computed once for each x and shared by the windows that contain them. This
// costs about 300 minima and maxima per output byte, independent of content; every byte is a lane. The search
// over thresholds (median_tiles_simd.cpp) costs up to 110 box sums at this radius, on noise.
#pragma once

#include <cstdint>

namespace lensd {

inline constexpr int kMedianMergeChunk = 512;  ///< maximum bytes of a row processed at a time

/// Sorted columns, pairs and fours of a chunk. They fit the L1 cache.
struct MedianMerges {
  /// Bytes of a row: the chunk, six pixels to its right, and slack.
  static constexpr int pitch = kMedianMergeChunk + 6 * 4 + 128;
  uint8_t columns[2][7][pitch];
  uint8_t pairs[14][pitch];
  uint8_t fours[22][pitch];  ///< ranks 4 to 25 of 28, which can be the median
};

/// Computes two rows of 7×7 medians from eight padded rows: three pixels of border on both sides and 128
/// readable bytes after them. `step`: bytes per pixel. `out1` may be null.
void median7_rows(const uint8_t* const* rows, int bytes, int step, MedianMerges& merges, uint8_t* out0,
                  uint8_t* out1);

}  // namespace lensd
