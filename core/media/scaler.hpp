// Working images to the pixel formats of encoders, by swscale. Internal to core/media.
#pragma once

#include "core/image/view.hpp"
#include "core/media/ffmpeg_check.hpp"

namespace lensd {

class Scaler {
 public:
  /// `matrix` is an SWS_CS number; `full_range` of the target. Throws Error(runtime_failure).
  void open(const ImageFormat& from, AVPixelFormat to, int matrix, bool full_range);
  /// Converts into the planes of `to`, of the same size.
  void convert(ConstImageRef image, AVFrame& to) const;

 private:
  ff::SwsPtr context_;
};

/// FFmpeg's name of a working format.
AVPixelFormat av_format(PixelFormat format);

}  // namespace lensd
