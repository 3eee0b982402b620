// Maps timestamps to the wall clock: computes when the next frame of a file is due at a playback speed. While
// there is sound, follow() sets the mapping, so that frames are due when their sound is heard.
//
// Does not read the clock and does not sleep; the caller passes the time. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lensd {

class PlaybackClock {
 public:
  /// Makes the next frame due at once, and later frames due relative to it.
  void restart() { running_ = false; }
  bool running() const { return running_; }
  void set_speed(double speed) { speed_ = speed, restart(); }

  struct Wait {
    int64_t ns = 0;          ///< time until the frame is due; 0 or less: show it now
    bool late = false;       ///< the frame is overdue by more than its duration
    bool restarted = false;  ///< the frame is the first one, or the clock has restarted at it
  };
  /// Returns the time from `now_ns` until a frame is due. Restarts at this frame if it is overdue by more
  /// than 4 durations (playback is too slow) or due in more than 10 s (the timestamps jump). At a restart
  /// this frame is due at once and later frames are delayed by `lead_ns`.
  Wait until_due(int64_t pts_ns, int64_t duration_ns, int64_t now_ns, int64_t lead_ns = 0) {
    if (!running_) {
      restart_at(pts_ns, now_ns + lead_ns);
      return {0, false, true};
    }
    duration_ns = std::max(duration_ns, kMinDurationNs);
    const auto media_ns = static_cast<double>(pts_ns - pts_ns_) / speed_;
    const int64_t ns = wall_ns_ + static_cast<int64_t>(media_ns) - now_ns;
    const bool late = ns < -duration_ns;
    if (ns >= -4 * duration_ns && ns <= kMaxWaitNs) return {ns, late, false};
    restart_at(pts_ns, now_ns + lead_ns);
    return {0, late, true};
  }
  /// Makes a frame with timestamp `pts_ns` due at `wall_ns`. Does nothing if the clock is not running.
  void follow(int64_t pts_ns, int64_t wall_ns) {
    if (running_) pts_ns_ = pts_ns, wall_ns_ = wall_ns;
  }

 private:
  static constexpr int64_t kMinDurationNs = 1'000'000, kMaxWaitNs = 10'000'000'000;
  void restart_at(int64_t pts_ns, int64_t now_ns) { pts_ns_ = pts_ns, wall_ns_ = now_ns, running_ = true; }

  double speed_ = 1;
  bool running_ = false;
  int64_t pts_ns_ = 0, wall_ns_ = 0;  ///< a frame with timestamp pts_ns_ is due at wall_ns_
};

}  // namespace lensd
