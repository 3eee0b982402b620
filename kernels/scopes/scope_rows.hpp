// Band and buffer sizes of the scopes on the CPU, and the luma of a row for scopes and compare.
#pragma once

#include <algorithm>

#include "kernels/scopes/deep_scope.hpp"

namespace lensd {

/// Minimum number of columns per band, and maximum number of columns counted at a time (waveform, parade).
inline constexpr int kColumnGrain = 16;
/// A worker's counters of one channel of a few columns. Their distance is not a multiple of 4 KiB. Otherwise
/// they would share a few lines of the L1 cache, and a load of one column's counter would wait for the store
/// to another (4K aliasing).
template <int Levels>
struct ColumnTable {
  uint32_t count[kColumnGrain][Levels + 16];

  void clear(int columns) {
    for (int c = 0; c < columns; ++c) std::fill_n(count[c], Levels, 0u);
  }
  void copy_to(uint32_t* counters, int columns) const {
    for (int c = 0; c < columns; ++c) std::copy_n(count[c], Levels, counters + c * Levels);
  }
};
/// Minimum pixels per band (vectorscope). Each band clears and adds a table of counters; with this many
/// pixels, that costs little.
inline constexpr int kChromaPixels = 1 << 18;
/// Bytes of the vectorscope's table of counters at the start of a worker's memory, for 8-bit images.
inline constexpr size_t kChromaTableBytes = 65536 * sizeof(uint32_t);

/// Returns the luma of pixels [begin, end) of row y of an image with samples of type S. For grey, returns a
/// pointer into the image. For other formats, converts into `buffer` and returns it.
template <class S>
const S* luma_of_row(const ConstImageRef& in, int y, int begin, int end, const LumaBlock& weights,
                     S* buffer) {
  const S* pixels = in.samples<S>(y) + begin * in.channels();
  if (in.channels() == 1) return pixels;
  constexpr int kBytes = sizeof(S);
  const Extent extent{end - begin, 1};
  luma_rows({reinterpret_cast<const uint8_t*>(pixels), 0, {make_format(false, kBytes), extent}},
            {reinterpret_cast<uint8_t*>(buffer), 0, {make_format(true, kBytes), extent}}, {0, 1}, weights);
  return buffer;
}

}  // namespace lensd
