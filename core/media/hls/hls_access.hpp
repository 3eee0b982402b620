// Opens playlists, segments and keys for FFmpeg's HLS demuxer, and checks their addresses.
//
//   FFmpeg ── io_open ──▶ HlsAccess ──┬── a playlist: loaded whole, parsed, rewritten ──▶ text in memory
//                                     └── a segment, key or map ──▶ its HTTP connection
//
// The rules for redirections apply to every address: http or https, no internal address except the host that
// the user named, certificates verified as for that host. Options with secrets go to that host only. All
// calls end at the input's deadline or when it is stopped. Use from one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/media/ffmpeg/interrupt.hpp"
#include "core/media/hls/packet_pace.hpp"
#include "core/media/hls/playlist.hpp"
#include "core/media/input/connect_policy.hpp"
#include "core/media/source.hpp"

namespace lensd {

/// State shared by the successive connections of a source. Used by its reader thread only, except
/// `opens_file`.
struct HlsProgress {
  /// A complete playlist, or a file whose size the server has stated, is being opened. LiveSource waits
  /// longer for it, so that it plays as a file.
  std::atomic<bool> opens_file{false};

  bool reopens = false;             ///< a file is opened again for a seek: failed requests are repeated
  bool live = false;                ///< a connection has played a live playlist
  std::array<std::string, 2> last;  ///< the last opened segment of the video's and of the audio's playlist
};

class HlsAccess {
 public:
  using Open = decltype(AVFormatContext::io_open);

  /// `url`: the user's address. `function`: FFmpeg's own io_open. All references must outlive this object.
  HlsAccess(std::string url, const LiveOptions& live, Open function, IoDeadline& deadline,
            ConnectPolicy& policy);
  ~HlsAccess();

  /// Which streams of a master playlist to play.
  struct Request {
    bool sound = false;  ///< play only the audio; otherwise the video
    int track = 0;       ///< number of the variant, or of the rendition if `sound`; 0: the best one
    bool or_best = false;
    /// Also play the video's audio if the stream is live. A file is opened again for its audio.
    bool with_audio = false;
    int audio_track = 0;
  };
  /// Takes the playlist `text`, which was loaded from `address`, and loads the chosen media playlist.
  /// `context`: the demuxer's context. Throws Error(bad_source) if it cannot be played.
  void begin(AVFormatContext& context, const std::string& text, const std::string& address,
             const Request& request);

  /// Returns the master playlist for the demuxer. Call after begin().
  AVIOContext* master() const noexcept;

  /// Like AVFormatContext::io_open and io_close2.
  int open(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
           AVDictionary** options) noexcept;
  int close(AVIOContext* io) noexcept;

  /// Makes this object retry temporary failures until the deadline. Before this call, LiveReader retries
  /// them, except those of a Request for sound and of HlsProgress::reopens, which this object always retries.
  void keep_trying() noexcept { keeps_trying_ = true; }

  /// Appends what `io` delivers to `text`, and sets `address` to the one after redirections. Returns 0 or an
  /// AVERROR. Throws Error(bad_source) if the text is larger than hls::kMaxPlaylistBytes.
  static int read_text(AVIOContext& io, std::string& text, std::string& address);

  /// Call when a live connection ends. Stores where the next one continues: after the last opened segment, or
  /// with that segment if `with_last` is true.
  void store_progress(bool with_last) noexcept;

  /// Returns true if the playlist was complete when begin() was called.
  bool on_demand() const noexcept { return on_demand_; }
  /// Returns the longest duration of a segment.
  int64_t target_ns() const noexcept { return target_ns_; }
  /// Returns how long playback of a live stream should wait for further packets before it starts. FFmpeg
  /// looks for the next segment after the duration of the last one, and if it is late, once more after half
  /// of target_ns(). If only one segment is listed, no other packets are buffered for this time.
  int64_t reserve_ns() const noexcept {
    // Less than half of the time for opening, in which the first picture must be decoded.
    return PacketPace::kReserveNs + (single_segment_ ? std::min(target_ns_, live_.open_ns / 2) / 2 : 0);
  }
  /// Returns a description of each variant with video; none without a master playlist.
  const std::vector<std::string>& variants() const noexcept { return variants_; }
  /// Returns the number of the chosen variant, from 1; 0: there is no master playlist.
  int variant() const noexcept { return choice_.video_track; }
  /// Returns true if the audio has a separate playlist.
  bool separate_audio() const noexcept { return choice_.rendition; }

  /// Returns why the stream can no longer be played; empty if it can. With a problem, open() fails.
  const std::string& problem() const noexcept { return problem_; }
  /// Returns problem(), or why the last attempt to open something has failed; empty if it has not.
  std::string reason() const;

 private:
  struct Text;
  struct Connection {
    ~Connection() { avio_closep(&io); }
    AVIOContext* io = nullptr;
  };
  /// State of one media playlist.
  struct Role {
    std::string address;
    hls::Playlist listed;
    hls::Map map;              ///< map of the last opened segment
    std::string last, before;  ///< the last opened segment, and the one before it
    bool given = false;        ///< FFmpeg has read the playlist at least once
    bool loaded = false;       ///< `listed` is current; the next give() need not load it
  };

  void load(AVFormatContext& context, Role& role);
  int give(AVFormatContext& context, AVIOContext** io, Role& role);
  size_t played(const Role& role) const;
  int open_media(AVFormatContext& context, AVIOContext** io, const std::string& url, AVDictionary* given);
  int connect(AVFormatContext& context, AVIOContext** io, const std::string& url, AVDictionary* given);
  void opened(const std::string& address, int64_t offset);
  void set_options(ff::Options& options, const std::string& address, const AVDictionary* given) const;
  void check_host(const std::string& address);
  bool may_retry(int error) const noexcept;
  bool wait_for_retry() noexcept;
  bool is_key(const std::string& address) const;
  AVIOContext* keep(std::string text);
  [[noreturn]] void fail(const std::string& what) const;

  const std::string url_, host_;
  const LiveOptions live_;
  const Open open_;
  IoDeadline& deadline_;
  ConnectPolicy& policy_;
  const std::shared_ptr<HlsProgress> progress_;  ///< may be null
  hls::Choice choice_;
  std::vector<std::string> variants_;
  std::array<Role, 2> roles_;    ///< first: the video, or the audio alone; second: the video's audio
  std::set<std::string> hosts_;  ///< hosts that check_host() has accepted
  std::map<const AVIOContext*, std::unique_ptr<Text>> texts_;
  AVIOContext* master_ = nullptr;
  int64_t target_ns_ = 0;
  bool on_demand_ = false, keeps_trying_ = false;
  bool single_segment_ = false;  ///< live: FFmpeg's first playlist of the video has only one segment
  bool busy_ = false;            ///< the server has refused the last request because it was busy
  std::string problem_, failure_;
};

}  // namespace lensd
