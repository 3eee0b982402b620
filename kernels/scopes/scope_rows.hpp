// Band and buffer sizes of the scopes on the CPU, and the luma of a row for scopes and compare.
#pragma once

#include "kernels/scopes/deep_scope.hpp"

namespace lensd {

/// Minimum columns per band (waveform, parade).
inline constexpr int kColumnGrain = 16;
/// Minimum pixels per band (vectorscope). Each band clears and adds a table of 2^16 counters; with this many
/// pixels, that costs little.
inline constexpr int kChromaPixels = 1 << 18;
/// Bytes of the vectorscope's table of counters at the start of a worker's memory.
inline constexpr size_t kChromaTableBytes = 65536 * sizeof(uint32_t);

/// Returns the luma of pixels [begin, end) of row y in 8 bits. For Gray8, returns a pointer into the image.
/// For other formats, converts into `buffer` and returns it.
inline const uint8_t* luma_of_row(const ConstImageRef& in, int y, int begin, int end,
                                  const LumaBlock& weights, uint8_t* buffer) {
  if (in.is_deep()) {
    deep_luma_row(in.samples<uint16_t>(y) + begin * in.channels(), in.channels(), buffer, end - begin,
                  weights);
    return buffer;
  }
  const uint8_t* pixels = in.row(y) + begin * in.channels();
  if (in.channels() == 1) return pixels;
  const Extent extent{end - begin, 1};
  luma_rows({pixels, 0, {PixelFormat::rgba8, extent}}, {buffer, 0, {PixelFormat::gray8, extent}}, {0, 1},
            weights);
  return buffer;
}

/// Returns the samples of pixels [begin, end) of row y in 8 bits: a pointer into the image or, for 16-bit
/// samples, `buffer` with the rounded samples.
inline const uint8_t* bytes_of_row(const ConstImageRef& in, int y, int begin, int end, uint8_t* buffer) {
  if (!in.is_deep()) return in.row(y) + begin * in.channels();
  deep_bytes_row(in.samples<uint16_t>(y) + begin * in.channels(), buffer, (end - begin) * in.channels());
  return buffer;
}

}  // namespace lensd
