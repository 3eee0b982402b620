// The state machine of a live source: connecting → playing → stalled → reconnecting, and when to try again.
//
//   attempt_begun, frame, lost ──▶ LiveMachine ──▶ state, reason, when the next attempt is due
//
// It never looks at a clock: the time of every event is given, so that tests run it on a clock of their own.
// Not for several threads at once.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "core/media/live/live_status.hpp"

namespace lensd {

struct LiveTiming {
  int64_t stall_ns = 700'000'000;  ///< no picture for so long (and for three of its intervals): stalled
  int64_t retry_ns = 250'000'000;  ///< between attempts for the first `eager_ns` of an outage
  int64_t eager_ns = 10'000'000'000;
  int64_t slow_retry_ns = 2'000'000'000;  ///< the longest wait later on, grown into slowly
};

class LiveMachine {
 public:
  /// `seed` of the jitter, by which many sources on one server do not knock at the same instant.
  LiveMachine(const LiveTiming& timing, int64_t now_ns, uint32_t seed);

  /// No connection is there or being made, and the next attempt's time has come.
  bool attempt_due(int64_t now_ns) const { return !busy_ && now_ns >= next_attempt_ns_; }
  void attempt_begun(int64_t now_ns);
  /// A picture came.
  void frame(int64_t now_ns);
  /// An attempt failed or the connection ended.
  void lost(int64_t now_ns, const std::string& reason);
  /// Time goes by: playing becomes stalled.
  void tick(int64_t now_ns);

  /// When tick() or attempt_due() will have something new to say; INT64_MAX: only events will.
  int64_t next_event_ns() const;
  /// Since when there are no pictures: the start, or the newest picture.
  int64_t silent_since_ns() const { return status_.last_frame_ns ? status_.last_frame_ns : begin_ns_; }
  const LiveStatus& status() const { return status_; }
  LiveStatus& status() { return status_; }

 private:
  void enter(LiveState state, int64_t now_ns, std::string reason);
  int64_t stall_limit_ns() const;
  int64_t retry_wait_ns(int64_t now_ns);

  const LiveTiming timing_;
  const int64_t begin_ns_;
  std::minstd_rand random_;
  LiveStatus status_;
  bool busy_ = false;  ///< an attempt is under way, or its connection stands
  bool fresh_ = true;  ///< no picture came over this connection yet
  int64_t next_attempt_ns_ = 0;
  int64_t outage_ns_ = 0;    ///< when the first attempt of this outage ended; 0: none
  int64_t interval_ns_ = 0;  ///< smoothed time between pictures
};

}  // namespace lensd
