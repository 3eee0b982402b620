// Computes the presentation times of a live source. They continue across connections and placeholders.
//
//   stream time, arrival ──▶ picture() ──▶ pts_ns, strictly increasing, close to the time since the start
//
// Within a connection pts_ns advances as the stream's times do, so that the network's jitter and bursts do
// not change it. Jumps of the stream's times are removed. A sender whose clock is slow or fast would drift
// away: if pts_ns is off for some seconds, it moves back to the arrival times.
// Callers pass the time since the source's start. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lensd {

/// A timestamp has jumped if it goes backwards, or if it advances by more than the elapsed time plus this.
constexpr int64_t kJumpNs = 1'000'000'000;

class LiveTimeline {
 public:
  /// Returns the presentation time of a picture. `same_connection`: it follows another picture of its
  /// connection.
  int64_t picture(int64_t stream_ns, int64_t now_ns, bool same_connection) {
    const int64_t step = stream_ns - stream_ns_, waited = now_ns - arrival_ns_;
    stream_ns_ = stream_ns, arrival_ns_ = now_ns;
    const bool follows = same_connection && step > 0 && step <= waited + kJumpNs;
    if (!follows || is_late(now_ns - (pts_ns_ + step), now_ns)) return restart(now_ns);
    // While pts_ns_ is ahead, it advances at no more than half the speed of the clock.
    return pts_ns_ += ahead_ ? std::max(kLeastStepNs, std::min(step, waited) / 2) : step;
  }

  /// Returns the presentation time of a placeholder.
  int64_t placeholder(int64_t now_ns) { return restart(now_ns); }

 private:
  static constexpr int64_t kLeastStepNs = 1'000'000;
  /// A drift is corrected if it exceeds kDriftNs for kDriftingNs. Bursts after an outage of the network are
  /// shorter.
  static constexpr int64_t kDriftNs = 1'000'000'000, kDriftingNs = 2'000'000'000;

  /// Returns true if the time must move forward to now_ns. `behind_ns`: how far it is behind. Sets ahead_.
  bool is_late(int64_t behind_ns, int64_t now_ns) {
    if (behind_ns >= 0) ahead_ = false;
    const int sign = behind_ns > kDriftNs ? 1 : behind_ns < -kDriftNs ? -1 : 0;
    if (sign == 0 || sign != drift_sign_) drift_sign_ = sign, drifting_from_ns_ = now_ns;
    if (sign == 0 || now_ns - drifting_from_ns_ < kDriftingNs) return false;
    ahead_ = ahead_ || sign < 0;
    return sign > 0;
  }

  int64_t restart(int64_t now_ns) {
    drift_sign_ = 0, ahead_ = false;
    return pts_ns_ = std::max(now_ns, pts_ns_ + kLeastStepNs);
  }

  int64_t pts_ns_ = -1;
  int64_t stream_ns_ = 0, arrival_ns_ = 0;  // of the previous picture
  int drift_sign_ = 0;
  int64_t drifting_from_ns_ = 0;
  bool ahead_ = false;  // pts_ns_ is ahead of now_ns by a drift
};

}  // namespace lensd
