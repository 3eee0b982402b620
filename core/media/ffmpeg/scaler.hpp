// Converts pictures to the pixel formats of encoders. Internal to core/media.
#pragma once

#include <optional>

#include "core/media/ffmpeg/deep_converter.hpp"
#include "core/media/ffmpeg/pixels.hpp"
#include "core/media/ffmpeg/repack.hpp"

namespace lensd {

/// Uses DeepConverter for 16-bit images, Repack for decoded YUV pictures, and swscale if those do not support
/// the formats. Repack also runs before swscale for layouts that swscale does not read.
class Scaler {
 public:
  /// Prepares the conversion. `to` must have the extent of `from`. If `from` is an image with 16 bits, the
  /// chroma of `to` must be sited left or in the centre, and `dither` dithers samples of 8 bits. Throws
  /// Error(runtime_failure) if the conversion is not supported.
  void open(PixelsFormat from, const PixelsFormat& to, bool dither = false);
  void convert(const Pixels& from, AVFrame& to);

 private:
  std::optional<DeepConverter> deep_;
  std::optional<Repack> repack_;
  ff::FramePtr repacked_;  ///< input of swscale; null: the picture itself, or swscale is not used
  ff::SwsPtr context_;
  int rows_ = 0;
};

}  // namespace lensd
