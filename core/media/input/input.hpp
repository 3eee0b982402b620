// A demuxer over a file, image, image sequence, pipe, generated or live source.
//
// Security: content is read through FileIo, and the demuxer is allowed no protocol and no further file, so
// that a playlist or a movie with external references cannot open what the user did not name. Playlist
// demuxers are refused by name as well. Only a sequence pattern lets FFmpeg open files itself. A network
// source is given its own protocols, never a file, and opens nothing but the address that was named
// (input_live.cpp).
//
// Every opening and reading of a live source ends at a deadline on the monotonic clock.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <string>

#include "core/media/ffmpeg/file_io.hpp"
#include "core/media/live/mpegts/low_delay_parser.hpp"
#include "core/media/live/mpegts/pes_flush.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

enum class StreamKind { video, audio };

class Input {
 public:
  /// Opens `url` and finds its best stream of `kind` (cover pictures are no video). Throws Error(bad_source)
  /// with one sentence. `stop` must outlive this object.
  Input(const std::string& url, StreamKind kind, const StopFlags& stop, const LiveOptions& live = {});

  AVFormatContext* context() const noexcept { return context_.get(); }
  AVStream* stream() const noexcept { return stream_; }
  UrlKind kind() const noexcept { return kind_; }
  /// Goes on without an end that could be known: everything from cameras, screens and the network but files
  /// that an HTTP server hands out.
  bool live() const noexcept { return is_live(kind_) && !on_demand(); }

  /// Single images, which may turn out to be followed by more (a pipe of PNG files).
  bool image_container() const noexcept;
  /// Any position can be read again, by seeking or by opening anew.
  bool repeatable() const noexcept {
    return is_live(kind_) ? on_demand() && !image_container() : !io_ || io_->regular();
  }
  /// The demuxer can seek by time.
  bool seeks_by_time() const noexcept;
  bool has_audio() const noexcept;

  /// How long a live source may send nothing.
  int64_t silence_ns() const noexcept { return silence_ns_; }

  /// Reads the next packet of the stream. Returns 0 or an AVERROR; AVERROR_EXIT after an interruption,
  /// AVERROR(ETIMEDOUT) when a live source sent nothing for its silence time.
  int read(AVPacket& packet) noexcept;

 private:
  /// What FFmpeg asks while it waits.
  struct Watch {
    const StopFlags& stop;
    std::atomic<int64_t> deadline_ns{std::numeric_limits<int64_t>::max()};
    bool expired() const noexcept;
  };
  static int on_interrupt(void* watch) noexcept;

  void open_file(const std::string& url);
  void open_sequence(const std::string& url);
  void open_generated(const std::string& url);
  void open_network(const std::string& url, const LiveOptions& live);
  void open_camera(const std::string& url, const LiveOptions& live);
  void open_screen(const std::string& url, const LiveOptions& live);
  void open_live(const std::string& url, const AVInputFormat* format, ff::Options& options);
  void set_probing(const LiveOptions& live);
  void parse_here();
  int read_packet(AVPacket& packet) noexcept;
  void refuse_redirection(const std::string& url) const;
  bool on_demand() const noexcept;
  void wait_for_camera() const noexcept;
  void open_demuxer(const std::string& url, const AVInputFormat* format, ff::Options& options);
  void make_context();
  void pick_stream(StreamKind kind);
  void check_sizes() const;
  static int deny_open(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;
  static int open_named(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;

  std::string where_;
  UrlKind kind_;
  const StopFlags& stop_;
  Watch watch_;
  int64_t silence_ns_ = 0;
  std::string named_;  ///< the one address that FFmpeg may open
  decltype(AVFormatContext::io_open) default_open_ = nullptr;
  int camera_fd_ = -1;                            ///< FFmpeg's own, to wait on; -1: not found
  std::unique_ptr<FileIo> io_;                    ///< before context_: it must outlive it
  std::unique_ptr<TransportStreamIo> transport_;  ///< as well: context_ reads through it
  ff::InputPtr context_;
  AVStream* stream_ = nullptr;
  bool parses_here_ = false;               ///< FFmpeg gives packets as they came
  std::unique_ptr<LowDelayParser> units_;  ///< makes pictures of them
};

}  // namespace lensd
