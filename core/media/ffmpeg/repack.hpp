// Copies YUV samples between packed, semi-planar and planar layouts. Unlike swscale, it supports all layouts
// of PictureFormat, and every sample keeps its value. Internal to core/media.
#pragma once

#include <optional>

#include "core/media/ffmpeg/pixels.hpp"

namespace lensd {

class Repack {
 public:
  /// Returns a Repack for these formats, or nullopt if they differ in more than the positions of the samples.
  static std::optional<Repack> of(const PixelsFormat& from, const PixelsFormat& to);

  void convert(const Pixels& from, AVFrame& to) const;

 private:
  PictureFormat from_, to_;
  Extent extent_;
};

}  // namespace lensd
