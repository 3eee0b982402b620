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
  /// Gaps between timestamps before `end_ns` never count as jumps: the frame before a gap is shown for its
  /// whole length. Later gaps of more than 10 s may be jumps.
  void trust_until(int64_t end_ns) { trusted_ns_ = end_ns; }
  void set_speed(double speed) { speed_ = speed, restart(); }

  struct Wait {
    int64_t ns = 0;          ///< time until the frame is due; 0 or less: show it now
    bool late = false;       ///< the frame is overdue by more than its duration
    bool restarted = false;  ///< the frame is the first one, or the clock has restarted at it
  };
  /// Returns the time from `now_ns` until a frame is due. Restarts at this frame if it is overdue by more
  /// than 4 durations (playback is too slow), or if the timestamps jump. At a restart this frame is due at
  /// once and later frames are delayed by `lead_ns`.
  Wait until_due(int64_t pts_ns, int64_t duration_ns, int64_t now_ns, int64_t lead_ns = 0) {
    if (pts_ns != asked_pts_ns_) before_ns_ = asked_ns_;
    asked_pts_ns_ = pts_ns, asked_ns_ = duration_ns;
    if (!running_) {
      restart_at(pts_ns, now_ns + lead_ns);
      return {0, false, true};
    }
    duration_ns = std::max(duration_ns, kMinDurationNs);
    const int64_t ns = wait_ns(pts_ns, now_ns);
    const bool late = ns < -duration_ns;
    if (ns >= -4 * duration_ns && !is_jump(pts_ns, ns, before_ns_)) return {ns, late, false};
    restart_at(pts_ns, now_ns + lead_ns);
    return {0, late, true};
  }
  /// Returns the time from `now_ns` until `pts_ns` is due; 0 if the clock is not running. Never restarts.
  int64_t until(int64_t pts_ns, int64_t now_ns) const { return running_ ? wait_ns(pts_ns, now_ns) : 0; }
  /// Returns how long the frame with timestamp `from_ns`, the last one passed to until_due(), is shown until
  /// `to_ns`, the timestamp of the next one; 0 if the timestamps jump.
  int64_t shown_ns(int64_t from_ns, int64_t to_ns) const {
    const int64_t ns = played_in(to_ns - from_ns);
    return is_jump(to_ns, ns, asked_ns_) ? 0 : ns;
  }
  /// Returns the timestamp that is due at `now_ns`. Only while the clock is running.
  int64_t position(int64_t now_ns) const {
    return pts_ns_ + static_cast<int64_t>(static_cast<double>(now_ns - wall_ns_) * speed_);
  }
  /// Makes a frame with timestamp `pts_ns` due at `wall_ns`. Does nothing if the clock is not running.
  void follow(int64_t pts_ns, int64_t wall_ns) {
    if (running_) pts_ns_ = pts_ns, wall_ns_ = wall_ns;
  }

 private:
  static constexpr int64_t kMinDurationNs = 1'000'000, kMaxWaitNs = 10'000'000'000;
  static constexpr int64_t kLongestNs = int64_t{1} << 60;  ///< 36 years
  int64_t wait_ns(int64_t pts_ns, int64_t now_ns) const {
    return wall_ns_ + played_in(pts_ns - pts_ns_) - now_ns;
  }
  /// Returns the time that playback takes for `ns` of the source, limited to kLongestNs: a damaged file may
  /// have any timestamps, and slow playback multiplies them.
  int64_t played_in(int64_t ns) const {
    constexpr auto kLongest = static_cast<double>(kLongestNs);
    return static_cast<int64_t>(std::clamp(static_cast<double>(ns) / speed_, -kLongest, kLongest));
  }
  /// Returns true if `ns`, the wait until the frame at `pts_ns` is due, is a jump of the timestamps: longer
  /// than 10 s, longer than twice `before_ns`, the duration of the previous frame, and after trust_until().
  bool is_jump(int64_t pts_ns, int64_t ns, int64_t before_ns) const {
    return pts_ns > trusted_ns_ && ns > std::max(kMaxWaitNs, 2 * played_in(before_ns));
  }
  void restart_at(int64_t pts_ns, int64_t now_ns) { pts_ns_ = pts_ns, wall_ns_ = now_ns, running_ = true; }

  double speed_ = 1;
  bool running_ = false;
  int64_t trusted_ns_ = 0;
  int64_t pts_ns_ = 0, wall_ns_ = 0;  ///< a frame with timestamp pts_ns_ is due at wall_ns_
  /// Timestamp and duration of the last frame passed to until_due(), and the duration of the frame before it.
  int64_t asked_pts_ns_ = INT64_MIN, asked_ns_ = 0, before_ns_ = 0;
};

}  // namespace lensd
