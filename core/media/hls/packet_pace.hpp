// Computes when the packets of a live HLS stream are due. Segments arrive in bursts of several seconds; the
// packets are delivered at the rate of their timestamps.
//
//   timestamps, in the order of the stream ── place() ──▶ continuous timeline ── due_ns() ──▶ monotonic clock
//
// Jumps of the timestamps are removed. If a packet arrives after it was due and no picture is buffered, it
// and all later packets are delayed. The clocks of server and client differ: if the buffered time grows or
// shrinks over minutes, packets are delivered a little faster or slower. Callers pass the time. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lensd {

class PacketPace {
 public:
  /// Time to buffer after packets were missing, and by default before playback starts.
  static constexpr int64_t kReserveNs = 300'000'000;

  explicit PacketPace(int64_t first_reserve_ns = kReserveNs) noexcept : first_reserve_ns_(first_reserve_ns) {}

  /// Returns the place of a video packet on the continuous timeline.
  int64_t place_video(int64_t stream_ns) noexcept {
    const int64_t place = stream_ns + offset_ns_;
    if (!any_video_ || is_jump(place - video_ns_))
      offset_ns_ = video_ns_ + (any_video_ ? kStepNs : 0) - stream_ns;
    any_video_ = true;
    return video_ns_ = stream_ns + offset_ns_;
  }
  /// Like place_video(), for audio, whose timestamps may jump a little earlier or later than those of the
  /// pictures.
  int64_t place_audio(int64_t stream_ns) const noexcept {
    const int64_t place = stream_ns + offset_ns_;
    return any_video_ && !is_jump(place - video_ns_ + kApartNs) ? place : video_ns_;
  }

  /// Returns when the packet at `place` is due. `missing`: no picture was buffered before it arrived.
  int64_t due_ns(int64_t place, int64_t now_ns, bool missing) noexcept {
    if (!started_ || (missing && start_ns_ + place < now_ns)) {
      start_ns_ = now_ns + (started_ ? kReserveNs : first_reserve_ns_) - place;
      window_ns_ = now_ns, least_ns_ = INT64_MAX, usual_ns_ = -1, direction_ = 0;
      started_ = true, delivered_ns_ = place;
    }
    return start_ns_ + place;
  }

  /// Call when a video packet is delivered. `newest`: place of the newest buffered one.
  void delivered(int64_t place, int64_t newest, int64_t now_ns) noexcept {
    start_ns_ -= direction_ * std::max<int64_t>(place - delivered_ns_, 0) / kCorrection;
    delivered_ns_ = place;
    least_ns_ = std::min(least_ns_, newest - place);
    if (now_ns - window_ns_ < kWindowNs) return;
    if (usual_ns_ < 0) usual_ns_ = least_ns_;
    direction_ = least_ns_ > usual_ns_ + kDriftNs ? 1 : least_ns_ < usual_ns_ - kDriftNs ? -1 : 0;
    window_ns_ = now_ns, least_ns_ = INT64_MAX;
  }

 private:
  /// Timestamps have jumped if they go back by more than kBackNs, or forward by more than kForwardNs. Shorter
  /// gaps come from missing segments.
  static constexpr int64_t kBackNs = 500'000'000, kForwardNs = 30'000'000'000;
  /// Pictures may be this much later in the stream than their audio.
  static constexpr int64_t kApartNs = 15'000'000'000;
  static constexpr int64_t kStepNs = 40'000'000;  ///< step on the continuous timeline at a jump
  static constexpr int64_t kWindowNs = 60'000'000'000, kDriftNs = 1'000'000'000;
  static constexpr int64_t kCorrection = 400;  ///< 0.25 %

  static bool is_jump(int64_t step_ns) noexcept { return step_ns < -kBackNs || step_ns > kForwardNs; }

  const int64_t first_reserve_ns_;
  bool any_video_ = false, started_ = false;
  int64_t offset_ns_ = 0, video_ns_ = 0;
  int64_t start_ns_ = 0, delivered_ns_ = 0;
  int64_t window_ns_ = 0, least_ns_ = INT64_MAX, usual_ns_ = -1;
  int direction_ = 0;
};

}  // namespace lensd
