// Converts pictures whose format PictureFormat cannot describe: RGB with few bits with tables, all others
// with swscale.
#pragma once

#include "core/media/ffmpeg/picture_allocator.hpp"
#include "core/media/input/small_rgb.hpp"

namespace lensd {

class ConvertFallback {
 public:
  explicit ConvertFallback(PictureAllocator& allocator) : allocator_(allocator) {}

  /// Replaces `frame` by its conversion to substitute_of() its format, in a buffer of the allocator. Throws
  /// Error(bad_source) if the format is not supported, Error(runtime_failure) if out of memory.
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
