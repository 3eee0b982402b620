// The CPU side of median at radius 3 (median_merge.cu does the same on CUDA): sorted columns, merged in
// pairs, the pairs in fours, and the median selected out of four columns, two and one.
//
//   7 rows ─▶ columns[x] ─▶ pairs[x] = columns x, x+1 ─▶ fours[x] = columns x … x+3
//   median of 49 at x = the 25th of fours[x], pairs[x+4] and columns[x+6]
//
// Columns, pairs and fours are made once for each x and shared by the windows that hold them: about 300
// minima and maxima an output, every byte a lane, whatever the picture shows. A search by thresholds
// (median_tiles.hpp) costs as much as 110 box sums on noise at this radius.
#pragma once

#include <cstdint>

namespace lensd {

inline constexpr int kMedianMergeChunk = 512;  ///< bytes of a row that are worked on at a time

/// The sorted columns, pairs and fours of a chunk; all of it stays in the L1 cache.
struct MedianMerges {
  static constexpr int pitch = kMedianMergeChunk + 6 * 4 + 128;  ///< six pixels to the right, and slack
  uint8_t columns[2][7][pitch];
  uint8_t pairs[14][pitch];
  uint8_t fours[22][pitch];  ///< of 28 those that can be the median: the 4th to the 25th
};

/// Two rows of 7×7 medians from eight padded rows (three pixels of border left and right, 128 bytes behind
/// them that may be read). `step`: bytes of a pixel. `out1` may be null.
void median7_rows(const uint8_t* const* rows, int bytes, int step, MedianMerges& merges, uint8_t* out0,
                  uint8_t* out1);

}  // namespace lensd
