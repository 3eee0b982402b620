// Converts packed RGB with fewer than 8 bits per component, such as RGB565, to RGBA with 8 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Each component v of d bits becomes round(255 · v / (2^d − 1)), the nearest value: 0 stays black, the
/// largest value becomes 255. Alpha is 255. swscale repeats or appends bits instead and is off by up to 8.
class SmallRgb {
 public:
  /// Returns true for RGB formats that store a pixel in 8 or 16 bits without alpha: RGB332, 444, 555 and 565,
  /// their BGR versions, both byte orders.
  static bool reads(AVPixelFormat format);

  /// Converts all pixels of `from`, whose format reads() accepts, to `to`, an RGBA picture of the same size.
  void convert(const AVFrame& from, AVFrame& to);

 private:
  void make_table(AVPixelFormat format);

  AVPixelFormat format_ = AV_PIX_FMT_NONE;
  std::vector<uint32_t> rgba_;  ///< RGBA bytes of a pixel in memory order; the index is its stored value
};

}  // namespace lensd
