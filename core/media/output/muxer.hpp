// Writes a container with one encoded video stream and, if the container supports the audio's codec, copied
// audio. Internal to core/media. Not thread-safe.
//
//   packets of one encoder ── write() ──▶ the audio before a packet, then the packet ──▶ file or connection
#pragma once

#include <memory>
#include <string>

#include "core/image/picture.hpp"
#include "core/media/hdr_metadata.hpp"
#include "core/media/output/audio_copy.hpp"
#include "core/media/output/hls_files.hpp"

namespace lensd {

class VideoEncoder;

/// Returns FFmpeg's name of the container for the extension of `path`; empty if the extension is unknown.
std::string muxer_of(const std::string& path);
/// Returns FFmpeg's description of a container. Throws Error(runtime_failure) if FFmpeg cannot write it;
/// `where` is for the message.
const AVOutputFormat& output_format_of(const std::string& muxer, const std::string& where);

/// A copy of the encoder's properties that a container needs; may be used on another thread than the encoder.
struct EncodedFormat {
  explicit EncodedFormat(const VideoEncoder& encoder);
  std::shared_ptr<const AVCodecParameters> codec;
  HdrMetadata hdr;
  Orientation orientation;
  AVRational time_base, frame_rate;
};

/// The packets of one encoder and the audio that belongs to them. Shared with the thread that writes them.
struct EncodedStream {
  EncodedFormat format;
  std::shared_ptr<AudioCopy> audio;  ///< for that thread only; may be null
};

/// A container that is being written. Functions that return int return 0 or an AVERROR.
class Muxer {
 public:
  /// Does not open the URL. `audio` may be null and must outlive this object. Throws Error(runtime_failure)
  /// if out of memory.
  Muxer(const AVOutputFormat& format, const std::string& url, const EncodedFormat& video, AudioCopy* audio);
  ~Muxer();
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  AVFormatContext& context() const noexcept { return *context_; }
  /// Writes the header. Opens the URL first if there is no I/O context and the muxer does not open it itself.
  /// If the muxer refuses the audio, writes the header without it. context() may change.
  int write_header(ff::Options& options);

  /// Makes `ticks` (in the encoder's time base) time 0. Call before the first packet.
  void start_at(int64_t ticks);
  /// Writes the audio before `packet`, then the packet. The packet's times are in the encoder's time base.
  int write(const AVPacket& packet);
  /// Copies the remaining audio: up to `ticks` (in the encoder's time base), or all with AudioEnd::source.
  /// `stop`, which may be null, ends the wait for late audio.
  int complete_audio(int64_t ticks, AudioEnd end, const std::atomic<bool>* stop);
  /// Makes the muxer write the start of the file although the audio of a live source has no packet yet.
  /// Otherwise a fragmented MP4 stays in memory.
  int write_beginning();
  /// Completes the container; later calls do nothing.
  int write_trailer();
  /// Returns HlsFiles::problem().
  const std::string& file_problem() const noexcept { return hls_files_.problem(); }

 private:
  struct ContextFree {
    void operator()(AVFormatContext* p) const noexcept;
  };

  void make_context(const AVOutputFormat& format, const std::string& url);
  void remake_without_audio();
  int copy_audio(int64_t ticks);
  void keep_times();

  const EncodedFormat video_;
  HlsFiles hls_files_;
  std::unique_ptr<AVFormatContext, ContextFree> context_;
  AVStream* stream_ = nullptr;
  AudioCopy* audio_;
  int64_t start_ = 0;
  bool open_ = false;  ///< true between header and trailer
  ff::PacketPtr packet_ = ff::make_packet();
};

}  // namespace lensd
