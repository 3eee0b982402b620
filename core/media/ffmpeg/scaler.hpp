// Pictures to the pixel formats of encoders, by swscale. Internal to core/media.
#pragma once

#include <optional>

#include "core/image/picture.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

/// What an encoder is fed with: a working image, or a decoded picture as it is.
struct PixelsFormat {
  AVPixelFormat format = AV_PIX_FMT_RGBA;
  Extent extent;
  YuvMatrix matrix = YuvMatrix::bt601;  ///< of YUV
  bool full_range = true;
  bool operator==(const PixelsFormat&) const = default;
};

struct Pixels {
  const uint8_t* planes[4] = {};
  int pitches[4] = {};
};

PixelsFormat pixels_format(ImageFormat format);
/// Nothing when FFmpeg has no name for the layout.
std::optional<PixelsFormat> pixels_format(const PictureInfo& info);
Pixels pixels(ConstImageRef image);
Pixels pixels(const PictureRef& picture);

/// True for RGB, whose matrix means nothing.
bool is_rgb(AVPixelFormat format);
bool is_gray(AVPixelFormat format);

class Scaler {
 public:
  /// `to` has the extent of `from`. Throws Error(runtime_failure).
  void open(const PixelsFormat& from, const PixelsFormat& to);
  /// Converts into the planes of `to`.
  void convert(const Pixels& from, AVFrame& to) const;

 private:
  ff::SwsPtr context_;
  int rows_ = 0;
};

}  // namespace lensd
