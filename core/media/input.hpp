// A demuxer over a file, image, image sequence, pipe or generated source.
//
// Security: content is read through FileIo, and the demuxer is allowed no protocol and no further file, so
// that a playlist or a movie with external references cannot open what the user did not name. Playlist
// demuxers are refused by name as well. Only a sequence pattern lets FFmpeg open files itself.
#pragma once

#include <memory>
#include <string>

#include "core/media/file_io.hpp"
#include "core/media/url.hpp"

namespace lensd {

enum class StreamKind { video, audio };

class Input {
 public:
  /// Opens `url` and finds its best stream of `kind` (cover pictures are no video). Throws Error(bad_source)
  /// with one sentence. `stop` must outlive this object.
  Input(const std::string& url, StreamKind kind, const StopFlags& stop);

  AVFormatContext* context() const noexcept { return context_.get(); }
  AVStream* stream() const noexcept { return stream_; }
  UrlKind kind() const noexcept { return kind_; }

  /// Single images, which may turn out to be followed by more (a pipe of PNG files).
  bool image_container() const noexcept;
  /// Any position can be read again, by seeking or by opening anew.
  bool repeatable() const noexcept { return !io_ || io_->regular(); }
  /// The demuxer can seek by time.
  bool seeks_by_time() const noexcept;
  bool has_audio() const noexcept;

  /// Reads the next packet of the stream. Returns 0 or an AVERROR; AVERROR_EXIT after an interruption.
  int read(AVPacket& packet) noexcept;

 private:
  void open_file(const std::string& url);
  void open_sequence(const std::string& url);
  void open_generated(const std::string& url);
  void open_demuxer(const std::string& url, const AVInputFormat* format, ff::Options& options);
  void make_context();
  void pick_stream(StreamKind kind);
  void check_sizes() const;
  static int deny_open(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept;

  std::string where_;
  UrlKind kind_;
  const StopFlags& stop_;
  std::unique_ptr<FileIo> io_;  ///< before context_: it must outlive it
  ff::InputPtr context_;
  AVStream* stream_ = nullptr;
};

}  // namespace lensd
