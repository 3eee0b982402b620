// A running video encoder. Internal to core/media. Belongs to one thread.
//
//   picture ── send() ──▶ [swscale, encoder] ── receive() ──▶ packets, later and in the order of decoding
#pragma once

#include <string>

#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/scaler.hpp"
#include "core/media/input/picture_allocator.hpp"

namespace lensd {

class VideoEncoder {
 public:
  /// Picks encoder and pixel format for `container`. Throws Error(usage) for a codec that does not exist or
  /// does not fit the container, Error(runtime_failure) when it does not start.
  VideoEncoder(const AVOutputFormat& container, const PixelsFormat& input, double fps,
               const EncoderOptions& options, const std::string& where);

  const AVCodecContext& context() const noexcept { return *context_; }
  /// Duration of a frame at the nominal rate, in the encoder's time base.
  int64_t frame_ticks() const noexcept { return frame_ticks_; }
  /// Why another encoder runs than the one that was asked for first; empty when it is that one.
  const std::string& notice() const noexcept { return notice_; }

  /// Goes on with pictures of another format where the stream stays the same. False: it would not.
  bool adapt(const PixelsFormat& input);

  /// `pts` in the encoder's time base, rising. `key` asks for a key frame.
  void send(const Pixels& picture, int64_t pts, bool key = false);
  void send_end();
  /// False when there is nothing (more) to be had now.
  bool receive(AVPacket& packet);

 private:
  void start(const AVCodec& codec, const AVOutputFormat& container, double fps,
             const EncoderOptions& options);
  static AVPixelFormat choose_format(const AVCodec& codec, const PixelsFormat& input);
  static PixelsFormat output_format(AVPixelFormat format, AVCodecID codec, const PixelsFormat& input);
  void set_colour(AVCodecContext& c) const;

  std::string where_, notice_;
  PixelsFormat input_, output_;
  PictureAllocator allocator_{MemoryKind::host};
  int64_t frame_ticks_ = 1;
  Scaler scaler_;
  ff::FramePtr frame_ = ff::make_frame();
  ff::CodecPtr context_;
};

}  // namespace lensd
