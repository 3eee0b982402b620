// Constants of the scopes' bands on the CPU, and luma of single rows for scopes and compare.
#pragma once

#include "kernels/grayscale/grayscale.hpp"

namespace lensd {

/// Minimum number of columns of a band of waveform and parade.
inline constexpr int kColumnGrain = 16;
/// Minimum pixels of a vectorscope's band, enough that clearing and adding a table of 2^16 counters costs
/// little.
inline constexpr int kChromaPixels = 1 << 18;
/// Bytes of a vectorscope's private table of counters, at the start of a worker's memory.
inline constexpr size_t kChromaTableBytes = 65536 * sizeof(uint32_t);

/// Returns the luma of pixels [begin, end) of a row: a pointer into a Gray8 image, else `buffer`, which is
/// filled.
inline const uint8_t* luma_of_row(const ConstImageRef& in, int y, int begin, int end,
                                  const LumaBlock& weights, uint8_t* buffer) {
  const uint8_t* pixels = in.row(y) + begin * in.channels();
  if (in.channels() == 1) return pixels;
  const Extent extent{end - begin, 1};
  luma_rows({pixels, 0, {PixelFormat::rgba8, extent}}, {buffer, 0, {PixelFormat::gray8, extent}}, {0, 1},
            weights);
  return buffer;
}

}  // namespace lensd
