// A Source that uses FFmpeg: demuxer → decoder → Picture.
//
//   Input ── packets ──▶ Decoder ── AVFrame in our buffers ──▶ TimestampNormalizer, picture_info ──▶ Picture
//                                        └─ format unknown to PictureFormat: ConvertFallback
//
// Pictures of an uncompressed camera skip the decoder. The constructor decodes the first frame to find its
// size, format and time. A source without any decodable picture therefore fails before a pipeline is created.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/input/convert_fallback.hpp"
#include "core/media/input/decoder.hpp"
#include "core/media/input/frame_owner_pool.hpp"
#include "core/media/input/input.hpp"
#include "core/media/input/stream_errors.hpp"
#include "core/media/input/times/packet_count.hpp"
#include "core/media/input/times/timestamps.hpp"
#include "core/media/source.hpp"

namespace lensd {

/// Measures how long the decode thread waits for data. ns() is thread-safe.
class DataWait {
 public:
  /// Counts its lifetime as a wait for data. Scopes must not be nested.
  class Scope {
   public:
    explicit Scope(DataWait& wait) noexcept : wait_(wait) { wait_.add(-now_ns()); }
    ~Scope() { wait_.add(now_ns()); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    DataWait& wait_;
  };
  /// Call outside of a Scope.
  void restart() noexcept { state_.store(0, std::memory_order_relaxed); }
  /// Returns how long the thread has waited since restart().
  int64_t ns() const noexcept {
    const int64_t state = state_.load(std::memory_order_relaxed);
    return state < 0 ? state + now_ns() : state;
  }

 private:
  /// Only the decode thread writes.
  void add(int64_t ns) noexcept {
    state_.store(state_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  }
  /// Sum of the waits. During a wait, the start time of the wait is subtracted, so the value is negative.
  std::atomic<int64_t> state_{0};
};

class FfmpegSource final : public Source {
 public:
  FfmpegSource(const std::string& url, const SourceOptions& options);

  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override;
  using Source::seek;
  void seek(int64_t position_ns, int back) override;
  std::optional<int64_t> indexed_key_frame(int64_t position_ns) const override;
  /// Seeks to the start position of the options, if they have one.
  void seek_start(const SourceOptions& options);
  std::string stream_errors() const override { return stream_errors_.sentence(); }
  std::vector<Notice> take_notices() override { return notices_.take(); }
  PixelAspect pixel_aspect() const override { return pixel_aspect_.load(std::memory_order_relaxed); }
  uint64_t waits() const noexcept override { return stop_.waits.load(std::memory_order_relaxed); }
  int64_t data_wait_ns() const noexcept override { return data_wait_.ns(); }
  void interrupt() noexcept override { stop_.interrupted.store(true, std::memory_order_relaxed); }

  /// Replaces SourceOptions::cancel. Do not call while next() runs.
  void cancel_by(const std::atomic<bool>* cancel) noexcept { stop_.cancelled = cancel; }

  /// Returns the number of buffers allocated so far, for tests.
  int blocks() const noexcept { return allocator_.blocks(); }

 private:
  void open();
  void open_first();
  void start_decoder();
  void read_ahead();
  bool decode_ahead(Picture& out);
  void read_further_images(const Picture& first, Picture& second, Picture& third);
  void detect_image_stream(Extent size, Picture& third);
  void describe_source();

  /// Decodes the next frame in presentation order into frame_.
  FrameOutcome decode();
  FrameOutcome capture();
  int read_packet() noexcept;
  FrameOutcome feed();
  FrameOutcome feed_key_frame();
  int send(const AVPacket* packet);
  FrameOutcome interrupted() noexcept;
  bool camera_picture_damaged() noexcept;
  void count_undecodable() noexcept;
  std::string only_damaged_pictures() const;
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void fail_too_large(Extent size) const;
  void fail_if_too_large();
  void check_memory(int result);
  /// Throws Error for a read error or the end of a live source, so that LiveSource reopens it.
  [[noreturn]] void fail_lost(int error) const;
  void check_picture_age();
  void check_live_packet();
  int64_t capture_time(std::optional<int64_t> raw_ns, int64_t now) const;
  [[noreturn]] void fail_gpu_refused() const;
  Picture deliver();
  /// Returns the colour of the decoded frame, with `keep` from the options and the announced peak.
  ColourSpec picture_colour(const PictureFormat& format);

  /// A seek that next() completes.
  struct SeekState {
    bool active = false;
    bool first = false;  ///< no frame was decoded since the demuxer's last seek
    bool skips = false;  ///< pictures before the target that no other picture needs are not decoded
    int attempt = 0;
    int64_t target_ns = 0;
    int back = 0;  ///< number of pictures before the target
    /// The last `back` pts before the target since the demuxer's last seek, without skipped pictures.
    std::deque<int64_t> passed_ns;
  };
  void move_to(int attempt);
  /// Prepares the decoder for packets of another position. Replaces a software decoder that has reported
  /// errors: flushing an H.264 decoder keeps data of damaged pictures, which would damage intact ones.
  void reset_decoder();
  /// Call before each packet is decoded. Lets the decoder skip the packet's picture if it is before the
  /// target of a seek and no other picture refers to it.
  void skip_before_target(const AVPacket& packet);
  /// Call at the end of the stream. Returns true if it has repeated the seek. If pictures were skipped,
  /// repeats it without skipping, because the last picture may be among them. Otherwise, if the seek found no
  /// frame at all, moves further back, unless decoding already began at the start.
  bool retry_seek();
  /// Returns true and ends the seek if the frame is at the target or is the first one after it, or if it is
  /// the key frame before the target and only key frames are delivered. Otherwise returns false: keeps a
  /// frame before the target for take_frame_before_target(), or moves further back if the first frame is
  /// already after the target or has no timestamp.
  bool reached(int64_t pts_ns);
  /// Call at the end of the stream. Makes the kept frame the current one. Returns false if there is none.
  bool take_frame_before_target();
  /// Call with the picture at the target. Returns true if frame_ is now the picture `back` pictures before
  /// it, or the first picture of the file. Otherwise moves the demuxer and returns false.
  bool go_back();
  /// Call with the picture after the target. If the previous picture lasts until well after the target, makes
  /// it the current one, beginning at the target. If pictures were skipped, moves the demuxer first and
  /// returns false.
  bool enter_picture_before(int64_t end_ns);
  void enter_picture(int64_t end_ns);
  /// If a picture was decoded after the delivered one, makes it the current one and returns true.
  bool take_waiting_target();
  void end_seek();
  /// Returns when the picture in frame_ begins. If a seek has entered the picture, this is before its pts_ns.
  int64_t begin_ns() const;

  const std::string url_, where_;
  const SourceOptions options_;
  std::string forged_;  ///< result of png_problem() for the last dropped picture; empty: none was dropped
  StopFlags stop_;
  DataWait data_wait_;
  PictureAllocator allocator_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<Decoder> decoder_;
  ConvertFallback fallback_;
  std::shared_ptr<FrameOwnerPool> owners_ = FrameOwnerPool::make();
  ff::FramePtr frame_ = ff::make_frame();
  ff::FramePtr before_target_ = ff::make_frame();  ///< the last frame that a seek has skipped, or empty
  FrameInfo before_target_info_;
  bool target_waits_ = false;  ///< before_target_ is the picture after frame_, and is delivered next
  /// If the last seek ended inside a long picture: its target, at which the picture was delivered, and the
  /// time at which the picture begins. Otherwise entered_ns_ is negative.
  int64_t entered_ns_ = -1, entered_begin_ns_ = 0;
  ff::PacketPtr packet_ = ff::make_packet();
  TimestampNormalizer timestamps_;
  StreamErrors stream_errors_;
  SourceInfo info_;
  NoticeList notices_;
  std::atomic<PixelAspect> pixel_aspect_{PixelAspect{}};
  SeekState seek_;
  std::array<Picture, 3> ahead_;       ///< pictures that the constructor decoded; delivered first
  FrameInfo frame_info_;               ///< properties of the frame in frame_
  int64_t announced_duration_ns_ = 0;  ///< announced duration of the stream; 0: unknown
  int64_t next_index_ = 0;
  bool index_estimated_ = false;        ///< next_index_ is an estimate
  std::optional<int64_t> first_index_;  ///< number of pictures before the first one that can be decoded
  PacketCount packets_;
  RateWatch rate_watch_;
  double mean_fps_ = 0;   ///< to estimate numbers of frames; differs from info_.fps if the rate varies
  bool follows_ = false;  ///< the next picture follows the last delivered one
  std::optional<uint16_t> announced_peak_;    ///< first announced peak of the connection, see peak_of()
  std::optional<HdrMetadata> announced_hdr_;  ///< metadata of the connection's first HDR picture
  bool draining_ = false;
  bool received_ = false;     ///< the decoder has delivered a picture since its start
  bool software_ = false;     ///< the driver has refused to decode this connection's stream
  bool only_first_ = false;   ///< a JPEG file with further images, which are not shown
  bool cover_read_ = false;   ///< the cover picture of an audio file, or the only image to show, was read
  bool drained_key_ = false;  ///< key_frames_only: the decoder was drained after a key frame

  /// Number of errors that the decoder had logged at its start, or at the newest picture of a camera.
  int decoder_errors_ = 0;

  // Live sources only.
  int64_t packet_time_ = AV_NOPTS_VALUE;  ///< time of the newest packet, in the stream's time base
  /// Packets still to check for decoder errors, after packet times have jumped back.
  int suspect_packets_ = 0;
  int suspect_errors_ = 0;  ///< number of errors that the decoder had logged at the jump
  int64_t picture_ns_ = 0;  ///< arrival of the newest picture, or the start of opening
  /// Arrival of the first data after the newest picture, or the start of opening; 0: none yet.
  int64_t data_since_ns_ = 0;

  // Cameras and PipeWire nodes only.
  uint64_t broken_before_ = 0;  ///< CameraMonitor::broken at picture_ns_
  bool intact_seen_ = false;    ///< at least one picture of this connection had no logged error
};

}  // namespace lensd
