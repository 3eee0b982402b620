// A demuxer for a file, image, image sequence, pipe, generated or live source.
//
// Security: a media file must not make FFmpeg open anything that the user did not name. FileIo reads a file's
// content. The demuxer must not use protocols or open other files. Playlist demuxers are refused by name.
// FFmpeg opens files itself only for a sequence pattern. A network source may use its own protocols but must
// not open files. It may open only the given address (input_live.cpp), or what HlsAccess allows for an HLS
// playlist (input_hls.cpp), and connect only where ConnectPolicy allows.
//
// Every call that opens or reads a live source ends at a deadline on the monotonic clock, unless it hangs
// where FFmpeg does not check the deadline, for example in name resolution.
#pragma once

#include <memory>
#include <string>

#include "core/media/camera/v4l2_capture.hpp"
#include "core/media/ffmpeg/file_io.hpp"
#include "core/media/hls/hls_access.hpp"
#include "core/media/hls/read_ahead.hpp"
#include "core/media/input/audio_config_watch.hpp"
#include "core/media/input/connect_policy.hpp"
#include "core/media/input/pipewire_capture.hpp"
#include "core/media/input/times/joined_parts.hpp"
#include "core/media/live/mpegts/low_delay_parser.hpp"
#include "core/media/live/mpegts/pes_flush.hpp"
#include "core/media/live/silence_limit.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

enum class StreamKind { video, audio };

/// Returns true for cover pictures and thumbnails, which are not part of the file's timeline.
inline bool is_cover(const AVStream& stream) {
  return stream.disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS);
}

/// Returns the cover picture of an audio file: the one that is marked as the front cover, or the first one.
/// Returns null if the file has none.
AVStream* find_cover(const AVFormatContext& context);

class Input {
 public:
  /// Opens `url` and selects stream number `track` (from 1) of `kind`, not counting cover pictures. If
  /// `track` is 0, selects the first stream marked as default, or the first one if none is marked. If
  /// `or_best` is true and `track` does not exist, selects as for 0. The cover picture of an audio file is
  /// its video. `stop` must outlive this object. Throws Error(bad_source) if the source cannot be opened or
  /// has no such stream, Error(invalid_config) if `live` has an option that the source does not have,
  /// Error(unavailable) if FFmpeg has no demuxer for the screen, or as PipewireCapture does.
  Input(const std::string& url, StreamKind kind, const StopFlags& stop, const LiveOptions& live = {},
        int track = 0, bool or_best = false);
  ~Input();

  AVFormatContext* context() const noexcept { return context_.get(); }
  AVStream* stream() const noexcept { return stream_; }
  UrlKind kind() const noexcept { return kind_; }
  /// Returns true for live sources, except files on an HTTP server.
  bool live() const noexcept { return is_live(kind_) && !on_demand(); }

  /// Returns true for containers of one or several images, see holds_images().
  bool image_container() const noexcept;
  /// Returns true if a server sends one or several images without stating a size.
  bool may_be_image_stream() const noexcept {
    return kind_ == UrlKind::network && !sized_ && image_container() &&
           std::string_view(context_->iformat->name).ends_with("_pipe");
  }
  /// Returns true if the whole response of a server was received.
  bool response_ended() const noexcept { return context_->pb && context_->pb->eof_reached; }
  /// Call if may_be_image_stream() is true and the response is a stream of images. live() then returns true.
  void set_image_stream() noexcept {
    image_stream_ = true;
    silence_.allow_slow();
  }
  /// Returns true if every position can be read again, by seeking or by reopening.
  bool repeatable() const noexcept {
    return is_live(kind_) ? on_demand() && !image_container() && server_seeks() : !io_ || io_->regular();
  }
  /// Returns true if another reader can read the source from its start: a file that is not a pipe.
  bool reopenable() const noexcept { return repeatable() || (is_live(kind_) && on_demand()); }
  bool seeks_by_time() const noexcept;
  /// Returns true for a file whose server does not state its size.
  bool on_demand_without_size() const noexcept { return is_live(kind_) && !hls_ && on_demand() && !sized_; }
  /// Returns true for an MP4 from a server without byte ranges: it can be read only if its index is at the
  /// start.
  bool needs_leading_index() const noexcept {
    return kind_ == UrlKind::network && sized_ && !server_seeks() &&
           std::string_view(context_->iformat->name).find("mp4") != std::string_view::npos;
  }
  bool has_audio() const noexcept;
  /// Returns the access to the playlists and segments of an HLS stream; null for other sources.
  const HlsAccess* hls() const noexcept { return hls_.get(); }
  /// Returns the monitor of a V4L2 camera or PipeWire node; null for other sources.
  CameraMonitor* camera_monitor() const noexcept {
    return camera_ ? camera_->monitor().get() : pipewire_ ? pipewire_->monitor().get() : nullptr;
  }
  /// Returns true for a network stream without timestamps, such as Motion JPEG over HTTP. FFmpeg makes up
  /// times for it, often at 25 pictures per second.
  bool invents_times() const noexcept {
    return kind_ == UrlKind::network &&
           (may_be_image_stream() || (live() && (context_->iformat->flags & AVFMT_NOTIMESTAMPS)));
  }
  /// Returns true if the demuxer has found that the file is truncated.
  bool cut() const noexcept { return cut_; }

  /// Returns the timeout of read() for a live source or a file on an HTTP server; 0 for other sources.
  int64_t silence_ns() const noexcept { return silence_.ns(); }

  /// Returns the duration of a file that was joined from several; 0 for other sources.
  int64_t joined_ns() const noexcept {
    return parts_ ? ff::to_ns(parts_->duration(), stream_->time_base) : 0;
  }

  /// Waits for the next packet of the stream. The timestamps of joined files are those of their JoinedParts,
  /// which seek() expects too. Returns 0 or an AVERROR: AVERROR_EXIT after an interruption,
  /// AVERROR_EOF at the end, AVERROR(ETIMEDOUT) if nothing arrived for silence_ns(), AVERROR(EAGAIN) if data
  /// of a live source arrived but no packet is complete, AVERROR(EMSGSIZE) if a server sends a packet without
  /// an end, or an error of FFmpeg or the camera.
  int read(AVPacket& packet) noexcept;

  /// Returns true if the sender has changed the codec of the pictures or of the audio, or the settings of AAC
  /// in an FLV stream. Other settings of AAC in a transport stream are announced to the LiveAudio.
  bool changed() const noexcept {
    return (transport_ && transport_->programs().changed()) || audio_config_.changed() || another_publisher_;
  }

  /// Moves to the stream's last key packet at or before `ticks`, in the stream's time base. Returns an
  /// AVERROR on failure. For a file on a server, waits at most silence_ns().
  int seek(int64_t ticks) noexcept;
  /// Call after a seek that has failed. Returns true if the server has not answered for silence_ns(). Each
  /// further attempt would wait as long.
  bool seek_timed_out() const noexcept { return silence_ns() > 0 && deadline_.expired(); }

  /// Returns true for a camera or PipeWire node with an uncompressed format. Read its pictures with
  /// read(AVFrame&, …).
  bool raw_camera() const noexcept { return pipewire_ || (camera_ && camera_->format().raw()); }
  /// Reads the next picture of a raw_camera() into a buffer of `allocator`. Returns the same values as
  /// read(AVPacket&).
  int read(AVFrame& frame, PictureAllocator& allocator) noexcept;

 private:
  void open_file(const std::string& url);
  void open_sequence(const std::string& url);
  void open_generated(const std::string& url);
  void open_network(const std::string& url, const LiveOptions& live, const HlsAccess::Request& request);
  void open_camera(const std::string& url, const LiveOptions& live);
  void open_pipewire(const std::string& url, const LiveOptions& live);
  void describe_camera(AVCodecID codec, AVPixelFormat pixels, Extent size, double rate);
  void open_screen(const std::string& url, const LiveOptions& live);
  void make_context();
  void make_network_context(const LiveOptions& live);
  int open_demuxer(const std::string& url, const AVInputFormat* format, ff::Options& options);
  void open_local(const std::string& url, const AVInputFormat* format, ff::Options& options);
  void open_live(const std::string& demuxer_url, const std::string& url, const LiveOptions& live);
  int take_playlist(AVIOContext** io) noexcept;
  void open_hls(const std::string& url, const LiveOptions& live, const HlsAccess::Request& request);
  void fail_hls() const;
  void start_reading();
  int read_from_server(AVPacket& packet) noexcept;
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  void fail_if_interrupted() const;
  void fail_if_endless() const;
  void set_probing(const LiveOptions& live);
  void read_transport_stream(bool low_latency);
  void watch_programs() noexcept;
  void take_audio(AVPacket& packet) noexcept;
  void announce_audio() noexcept;
  void refuse_redirection(const std::string& url, std::string final_url) const;
  [[noreturn]] void fail_redirected(const std::string& address) const;
  void find_parts();
  void pick_stream(StreamKind kind, int track, bool or_best);
  AVStream* find_stream(StreamKind kind, int track, int& number) const;
  void connect_audio();
  bool try_connect_audio() noexcept;
  void check_sizes() const;
  bool on_demand() const noexcept;
  bool server_seeks() const noexcept;
  int64_t most_packet_bytes() const noexcept;
  int read_packet(AVPacket& packet) noexcept;
  int read_camera_packet(AVPacket& packet) noexcept;
  template <class Read>
  int read_camera(const Read& read) noexcept;
  static int deny_open(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;
  static int open_image(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;
  static int open_allowed(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;
  static int open_part(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;
  static int close_part(AVFormatContext*, AVIOContext*) noexcept;

  std::string where_;
  UrlKind kind_;
  const StopFlags& stop_;
  IoDeadline deadline_;
  SilenceLimit silence_;
  bool sized_ = false;         ///< the server has stated the size of what it sends
  bool image_stream_ = false;  ///< see set_image_stream()
  ConnectPolicy policy_;
  std::string allowed_url_;  ///< network: the only address that FFmpeg may open
  std::string playlist_,
      playlist_url_;              ///< HLS: the text at allowed_url_, and its address after redirections
  std::string playlist_problem_;  ///< why a playlist at allowed_url_ cannot be loaded
  bool finds_playlists_ = false;  ///< allowed_url_ may be a playlist
  /// Network: LiveOptions::hls.
  std::shared_ptr<HlsProgress> progress_;
  decltype(AVFormatContext::io_open) default_open_ = nullptr;
  std::unique_ptr<V4l2Capture> camera_;           ///< context_ only describes its stream
  std::unique_ptr<PipewireCapture> pipewire_;     ///< context_ only describes its stream
  std::unique_ptr<FileIo> io_;                    ///< must outlive context_
  std::unique_ptr<TransportStreamIo> transport_;  ///< must outlive context_
  std::unique_ptr<HlsAccess> hls_;                ///< must outlive context_
  ff::InputPtr context_;
  AVStream* stream_ = nullptr;
  std::unique_ptr<JoinedParts> parts_;  ///< timeline of a joined file; null: timestamps stay unchanged
  std::shared_ptr<LiveAudio> audio_;    ///< receives the packets of audio_stream_; null: audio is not read
  AVStream* audio_stream_ = nullptr;
  unsigned streams_seen_ = 0;  ///< number of streams when audio_stream_ was searched
  AudioConfigWatch audio_config_;
  /// Minimum interval of announcements, because each one starts a new file of a recording.
  static constexpr int64_t kAnnouncementsNs = 2'000'000'000;
  int64_t audio_announced_ns_ = 0;
  bool another_publisher_ = false;  ///< FLV: another audio stream, with another codec, has begun
  bool cut_ = false;
  bool bypasses_parser_ = false;  ///< FFmpeg returns packets as they arrive; parser_ splits them
  std::unique_ptr<LowDelayParser> parser_;
  AVCodecID codec_ = AV_CODEC_ID_NONE;     ///< codec of the pictures of a live HLS stream
  bool codec_changed_ = false;             ///< read-ahead thread: another codec follows
  std::unique_ptr<ReadAhead> read_ahead_;  ///< reads a live HLS stream; its thread uses context_
};

}  // namespace lensd
