// A container that is being written: one encoded video stream and, where it fits, copied audio. Internal to
// core/media; belongs to one thread.
//
//   packets of one encoder ── write() ──▶ the audio before them, then the packet ──▶ file or connection
#pragma once

#include <memory>
#include <string>

#include "core/media/output/audio_copy.hpp"

namespace lensd {

/// FFmpeg's name of the container for the ending of a video file; empty if it is none.
std::string muxer_of(const std::string& path);
/// Throws Error(runtime_failure) if FFmpeg cannot write this container; `where` is for the message.
const AVOutputFormat& output_format_of(const std::string& muxer, const std::string& where);

/// What a container needs to know about an encoder; may be used on another thread than the encoder's.
struct EncodedFormat {
  explicit EncodedFormat(const AVCodecContext& encoder);
  ff::ParametersPtr codec;
  AVRational time_base, frame_rate;
};

/// Functions that return int return 0 or an AVERROR.
class Muxer {
 public:
  /// Opens nothing. `audio` may be null and must outlive this object. Throws Error(runtime_failure).
  Muxer(const AVOutputFormat& format, const std::string& url, const EncodedFormat& video, AudioCopy* audio);
  ~Muxer();
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  AVFormatContext& context() const noexcept { return *context_; }
  /// Opens the URL first if there is no I/O context and the container does not open it itself.
  int write_header(ff::Options& options);

  /// `ticks` (encoder's time base) becomes time 0. Call before the first packet.
  void start_at(int64_t ticks);
  /// Times in the encoder's time base.
  int write(const AVPacket& packet);
  /// Copies the audio before `ticks`.
  int copy_audio(int64_t ticks);
  /// Completes the container; later calls do nothing.
  int write_trailer();

 private:
  struct ContextFree {
    void operator()(AVFormatContext* p) const noexcept;
  };

  std::unique_ptr<AVFormatContext, ContextFree> context_;
  AVStream* stream_ = nullptr;
  const AVRational time_base_;
  AudioCopy* audio_;
  int64_t start_ = 0;
  bool open_ = false;  ///< between header and trailer
  ff::PacketPtr packet_ = ff::make_packet();
};

}  // namespace lensd
