// The state machine of a live source: its LiveState and the times of its connection attempts.
//
//   attempt_started, frame, lost, tick ──▶ LiveStateMachine ──▶ state, reason, time of the next attempt
//
// Callers pass the current time, so that tests control the clock. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "core/pipeline/live_status.hpp"

namespace lensd {

struct LiveTiming {
  int64_t stall_ns = 700'000'000;  ///< stalled after this time without a picture, later at low frame rates
  int64_t retry_ns = 250'000'000;  ///< wait between attempts during the first `eager_ns` of an outage
  int64_t eager_ns = 10'000'000'000;
  int64_t slow_retry_ns = 2'000'000'000;  ///< maximum wait between attempts
  /// A connection that is lost sooner than this after its first picture does not end the outage. Otherwise a
  /// server that closes after each picture would get four requests per second forever.
  int64_t lasting_ns = 5'000'000'000;
  int64_t restart_ns = 3'000'000'000;  ///< a restart on request may take this time before it is a stall
  /// Waits after a refused login: the first, the second (doubled for each further one), the maximum. The
  /// first is short, because a camera that starts may refuse a correct login.
  int64_t first_login_ns = 5'000'000'000, login_ns = 30'000'000'000, slow_login_ns = 300'000'000'000;
};

/// Start of the text that LiveStateMachine::lost() appends to the reason after a refused login.
inline constexpr const char* kNextAttempt = "; next attempt in ";

/// Why an attempt failed, for the wait before the next one.
enum class ConnectionLoss : uint8_t { connection, login };

class LiveStateMachine {
 public:
  /// `seed`: seed of the jitter, which prevents many sources from reconnecting to one server at the same
  /// time.
  LiveStateMachine(const LiveTiming& timing, int64_t now_ns, uint32_t seed);

  /// Returns true if there is no connection or attempt and the next attempt is due.
  bool attempt_due(int64_t now_ns) const { return !busy_ && now_ns >= next_attempt_ns_; }
  /// Call when an attempt starts.
  void attempt_started();
  /// Call when a picture has arrived.
  void frame(int64_t now_ns);
  /// Returns true if the connection has delivered pictures for at least LiveTiming::lasting_ns.
  bool lasted(int64_t now_ns) const {
    return !no_picture_yet_ && now_ns - first_picture_ns_ >= timing_.lasting_ns;
  }
  /// Call when an attempt has failed or the connection has ended. After a refused login, also adds the wait
  /// to the reason.
  void lost(int64_t now_ns, const std::string& reason, ConnectionLoss loss = ConnectionLoss::connection);
  /// Call instead of lost() when the connection was ended on request. Keeps the state if a picture arrives
  /// within LiveTiming::restart_ns. The next attempt is due at once.
  void restart(int64_t now_ns);
  /// Changes the state to `stalled` if no picture has arrived for too long.
  void tick(int64_t now_ns);

  /// Returns the earliest time at which the result of tick() or attempt_due() may change; INT64_MAX: never.
  int64_t next_event_ns() const;
  /// Returns the time of the newest picture, or of the start if there was none.
  int64_t silent_since_ns() const { return status_.last_frame_ns ? status_.last_frame_ns : begin_ns_; }
  const LiveStatus& status() const { return status_; }
  LiveStatus& status() { return status_; }

 private:
  void enter(LiveState state, int64_t now_ns, std::string reason);
  int64_t stall_limit_ns() const;
  int64_t stall_time_ns() const;
  int64_t retry_wait_ns(int64_t now_ns);
  int64_t login_wait_ns() const;

  const LiveTiming timing_;
  const int64_t begin_ns_;
  std::minstd_rand random_;
  LiveStatus status_;
  bool busy_ = false;  ///< attempting or connected
  bool no_picture_yet_ = true;
  bool requested_ = false;    ///< the current attempt follows restart()
  int64_t requested_ns_ = 0;  ///< time of the first restart() since the newest picture
  int64_t next_attempt_ns_ = 0;
  int64_t outage_ns_ = 0;         ///< start of the newest outage; short connections continue it; 0: none yet
  int64_t first_picture_ns_ = 0;  ///< time of the connection's first picture
  int refused_logins_ = 0;        ///< number of refused logins since the newest picture
  int64_t interval_ns_ = 0;       ///< smoothed time between pictures
};

}  // namespace lensd
