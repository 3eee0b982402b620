// The choice and set-up of a video encoder. Internal to core/media.
#pragma once

#include <string>

#include "core/media/picture_allocator.hpp"
#include "core/media/recorder.hpp"
#include "core/media/scaler.hpp"

namespace lensd {

class VideoEncoder {
 public:
  /// Picks encoder and pixel format for `container`. Throws Error(usage) for a codec that does not exist or
  /// does not fit the container, Error(runtime_failure) when it does not start.
  VideoEncoder(const AVOutputFormat& container, ImageFormat format, const RecorderOptions& options,
               const std::string& where);

  const AVCodecContext& context() const noexcept { return *context_; }
  /// Duration of a frame at the nominal rate, in the encoder's time base.
  int64_t frame_ticks() const noexcept { return frame_ticks_; }

  /// `pts` in the encoder's time base, rising.
  void send(ConstImageRef image, int64_t pts);
  void send_end();
  /// False when there is nothing (more) to be had now.
  bool receive(AVPacket& packet);

 private:
  AVPixelFormat choose_format(const AVCodec& codec, ImageFormat format) const;
  void set_colour(ImageFormat format);

  std::string where_;
  PictureAllocator allocator_{MemoryKind::host};
  int64_t frame_ticks_ = 1;
  Scaler scaler_;
  ff::FramePtr frame_ = ff::make_frame();
  ff::CodecPtr context_;
};

}  // namespace lensd
