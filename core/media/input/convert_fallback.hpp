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
  /// allocator. Throws Error(bad_source) if the format is not supported, MemoryError if out of
  /// memory.
  void convert(ff::FramePtr& frame);

 private:
  /// What a conversion by swscale depends on.
  struct ScaleFormat {
    int width = 0, height = 0, from = -1, to = -1, chroma_column = 0, chroma_row = 0;
    bool operator==(const ScaleFormat&) const = default;
  };

  /// Converts with swscale.
  void scale(const AVFrame& frame, AVFrame& out);
  void open_scaler(const ScaleFormat& format);

  PictureAllocator& allocator_;
  SmallRgb small_rgb_;
  ff::SwsPtr scaler_;
  ScaleFormat scaled_;  // input format of scaler_
  ff::FramePtr spare_;
  int logged_format_ = -1;
};

}  // namespace lensd
