// A running video encoder. Internal to core/media. Not thread-safe.
//
//   frame ── next_time() ──▶ send() ──▶ [scaler, encoder] ── receive() ──▶ packets, later, in decoding order
#pragma once

#include <optional>
#include <string>

#include "core/base/notices.hpp"
#include "core/image/frame.hpp"
#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/picture_allocator.hpp"
#include "core/media/ffmpeg/scaler.hpp"
#include "core/media/output/source_jump.hpp"

namespace lensd {

class VideoEncoder {
 public:
  /// Chooses encoder and pixel format for `container`. `where` is for messages. `fields`: field order of the
  /// first picture as stored; the encoder codes fields if it supports that. Throws Error(usage) if the codec
  /// does not exist or the container does not support it. Throws Error(runtime_failure) if the encoder does
  /// not start.
  VideoEncoder(const AVOutputFormat& container, const PixelsFormat& input, double fps,
               const EncoderOptions& options, const std::string& where,
               FieldOrder fields = FieldOrder::progressive);

  const AVCodecContext& context() const noexcept { return *context_; }
  /// Returns the orientation of the stream's pictures, for the container.
  Orientation orientation() const noexcept { return output_.orientation; }
  /// Returns the HDR metadata of the stream, for the container.
  const HdrMetadata& hdr() const noexcept { return hdr_; }
  /// Returns what the stream loses and, if a hardware encoder was requested but is not used, the reason. The
  /// notice is a problem only in the second case. Its text is empty if there is nothing to report.
  const Notice& notice() const noexcept { return notice_; }

  /// Changes the format of input pictures if the stream's format stays the same. Returns false if it would
  /// change.
  bool adapt(const PixelsFormat& input);

  struct FrameTime {
    int64_t ticks = 0;               ///< time in the encoder's time base
    std::optional<SourceJump> jump;  ///< for the first frame, and the first one after a jump of the source
  };
  /// Returns the recording time of a frame: 0 for the first frame, strictly increasing. After a jump of the
  /// source it continues at the nominal rate.
  FrameTime next_time(const FrameInfo& info);
  /// Returns the time at which the next frame is due at the nominal rate, in the encoder's time base.
  int64_t next_ticks() const noexcept { return last_ticks_ < 0 ? 0 : last_ticks_ + frame_ticks_; }
  /// Returns the end of the last frame, which may have a long duration, as in slide shows.
  int64_t end_ticks() const noexcept { return next_ticks() + extra_ticks_; }

  /// Encodes a picture. `ticks`: result of next_time(). `key` requests a key frame. `fields`: field order of
  /// the picture as stored. Throws Error(runtime_failure) if encoding fails.
  void send(const Pixels& picture, int64_t ticks, bool key = false,
            FieldOrder fields = FieldOrder::progressive);
  /// Ends the input; receive() then returns the remaining packets. Throws Error(runtime_failure) on failure.
  void send_end();
  /// Returns the next packet, valid until the next call. Returns null if there is none yet, or no more after
  /// send_end(). Throws Error(runtime_failure) if encoding failed.
  const AVPacket* receive();

 private:
  void start(const AVCodec& codec, const AVOutputFormat& container, double fps,
             const EncoderOptions& options);
  void set_fields(AVCodecContext& c) const;
  void set_colour(AVCodecContext& c) const;
  void convert(const Pixels& picture, FieldOrder fields);
  bool follow_source_time(const FrameInfo& info);
  bool follow_stamp(const FrameInfo& info);
  bool receive(AVPacket& packet) const;
  void check(int error) const;

  std::string where_;
  Notice notice_;
  EncoderOptions options_;
  FieldOrder fields_;  // of the first picture
  PixelsFormat input_, output_;
  HdrMetadata hdr_;  // of the stream
  PictureAllocator allocator_{MemoryKind::host};
  Scaler scaler_;
  std::optional<Scaler> field_scaler_;  ///< for one field of interlaced pictures
  ff::FramePtr frame_ = ff::make_frame();
  ff::PacketPtr packet_ = ff::make_packet(), ahead_ = ff::make_packet();
  ff::CodecPtr context_;
  int64_t frame_ticks_ = 1;  ///< duration of a frame at the nominal rate
  int64_t extra_ticks_ = 0;  ///< duration of the last frame beyond the nominal one
  bool draining_ = false;    ///< send_end() was called
  int64_t last_ticks_ = -1, last_pts_ns_ = 0, source_offset_ns_ = 0, offset_ns_ = 0;
  int64_t last_stamp_ns_ = 0;
  uint32_t connection_ = 0;
  uint32_t serial_ = 0;
};

}  // namespace lensd
