// Pictures in formats that PictureFormat does not describe, converted to RGBA by swscale.
#pragma once

#include "core/media/input/picture_allocator.hpp"

namespace lensd {

class ConvertFallback {
 public:
  explicit ConvertFallback(PictureAllocator& allocator) : allocator_(allocator) {}

  /// Replaces `frame` by its RGBA form, in a buffer of the allocator. Logs once per pixel format. Throws
  /// Error(bad_source) when swscale does not know the format either.
  void convert(ff::FramePtr& frame);

 private:
  PictureAllocator& allocator_;
  ff::SwsPtr scaler_;
  ff::FramePtr spare_;
  int told_format_ = -1;
};

}  // namespace lensd
