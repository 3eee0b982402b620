// Converts pictures whose format PictureFormat cannot describe. Uses tables for RGB with few bits, and
// swscale for all other formats.
#pragma once

#include "core/media/ffmpeg/picture_allocator.hpp"
#include "core/media/input/small_rgb.hpp"

namespace lensd {

class ConvertFallback {
 public:
  explicit ConvertFallback(PictureAllocator& allocator) : allocator_(allocator) {}

  /// Converts `frame` to the format that substitute_of() returns for its format, in a buffer of the
  /// allocator. Throws Error(bad_source) if the format is not supported, Error(runtime_failure) if out of
  /// memory.
  void convert(ff::FramePtr& frame);

 private:
  /// Converts with swscale.
  void scale(const AVFrame& frame, AVFrame& out);

  PictureAllocator& allocator_;
  SmallRgb small_rgb_;
  ff::SwsPtr scaler_;
  ff::FramePtr spare_;
  int logged_format_ = -1;
};

}  // namespace lensd
