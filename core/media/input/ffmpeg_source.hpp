// The Source over FFmpeg: demuxer → decoder → Picture.
//
//   Input ── packets ──▶ Decoder ── AVFrame in our buffers ──▶ TimestampSmoother, picture_info ──▶ Picture
//                                        └─ format not describable: ConvertFallback (RGBA)
//
// The first frame is decoded when the source is opened, so that its size, format and time are known and not
// guessed, and "nothing can be decoded" is said before anything is built for it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/media/ffmpeg/convert_fallback.hpp"
#include "core/media/input/decoder.hpp"
#include "core/media/input/held_frames.hpp"
#include "core/media/input/input.hpp"
#include "core/media/input/stream_errors.hpp"
#include "core/media/input/timestamps.hpp"
#include "core/media/source.hpp"

namespace lensd {

class FfmpegSource final : public Source {
 public:
  FfmpegSource(const std::string& url, const SourceOptions& options);

  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override;
  void seek(int64_t position_ns) override;
  std::string stream_errors() const override { return stream_errors_.sentence(); }
  void interrupt() noexcept override { stop_.interrupted.store(true, std::memory_order_relaxed); }

  /// From now on another flag makes waits give up, see SourceOptions::cancel. Not while next() runs.
  void cancel_by(const std::atomic<bool>* cancel) noexcept { stop_.cancelled = cancel; }

  /// Buffers made by the allocator so far, for tests.
  int blocks() const noexcept { return allocator_.blocks(); }

 private:
  void open();
  void read_ahead();
  void describe_source();

  /// The next frame in presentation order into frame_.
  FrameOutcome decode();
  FrameOutcome feed();
  /// What keeps a live source from going on is an error, after which it is opened anew.
  [[noreturn]] void throw_lost(int error) const;
  void check_going_on();
  int64_t capture_time(std::optional<int64_t> raw_ns, int64_t now) const;
  [[noreturn]] void throw_refused() const;
  Picture deliver();

  /// What seek() left for next() to do.
  struct SeekState {
    bool active = false;
    bool first = false;  ///< no frame was decoded since the demuxer was moved
    int attempt = 0;
    int64_t target_ns = 0;
  };
  void move_to(int attempt);
  void restart();
  /// Moves further back when the demuxer's position held no frame at all; false when there is nothing to
  /// retry.
  bool retry_seek();
  /// False when the frame is to be dropped on the way to the target.
  bool reached(int64_t pts_ns);

  const std::string url_, where_;
  const SourceOptions options_;
  StopFlags stop_;
  PictureAllocator allocator_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<Decoder> decoder_;
  ConvertFallback fallback_;
  std::shared_ptr<HeldFrames> held_ = HeldFrames::make();
  ff::FramePtr frame_ = ff::make_frame();
  ff::PacketPtr packet_ = ff::make_packet();
  TimestampSmoother timeline_;
  StreamErrors stream_errors_;
  SourceInfo info_;
  SeekState seek_;
  std::array<Picture, 2> ahead_;  ///< decoded at opening, handed out first
  FrameInfo frame_info_;          ///< of the frame in frame_; its index counts on
  int64_t announced_ns_ = 0;      ///< the stream's own duration, 0: not known
  int64_t next_index_ = 0, end_ns_ = 0;
  int64_t packet_time_ = AV_NOPTS_VALUE;  ///< live: of the newest packet, in the stream's unit
  int suspect_packets_ = 0;               ///< live: packets that are watched since the times fell back
  int suspect_complaints_ = 0;
  int64_t picture_ns_ = 0;  ///< live: when the newest picture came, or the opening began
  bool draining_ = false;
};

}  // namespace lensd
