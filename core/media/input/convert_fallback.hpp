// Converts pictures with swscale if PictureFormat cannot describe their format.
#pragma once

#include "core/media/ffmpeg/picture_allocator.hpp"

namespace lensd {

class ConvertFallback {
 public:
  explicit ConvertFallback(PictureAllocator& allocator) : allocator_(allocator) {}

  /// Replaces `frame` by its conversion to substitute_of() its format, in a buffer of the allocator. Throws
  /// Error(bad_source) if swscale does not support the format, Error(runtime_failure) if out of memory.
  void convert(ff::FramePtr& frame);

 private:
  PictureAllocator& allocator_;
  ff::SwsPtr scaler_;
  ff::FramePtr spare_;
  int logged_format_ = -1;
};

}  // namespace lensd
