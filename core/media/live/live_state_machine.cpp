#include "core/media/live/live_state_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

/// After LiveTiming::eager_ns, the wait before a retry is 1/40 of the outage, within the limits of
/// LiveTiming: 1 s after 40 s, 2 s after 80 s.
constexpr int64_t kOutageShare = 40;
/// A source counts as stalled after kMissedIntervals times its usual frame interval, but not before
/// LiveTiming::stall_ns. The limit is at most kLongestStall, or LiveTiming::stall_ns if that is longer.
constexpr int64_t kMissedIntervals = 3, kLongestStall = 10'000'000'000;

}  // namespace

LiveStateMachine::LiveStateMachine(const LiveTiming& timing, int64_t now_ns, uint32_t seed)
    : timing_(timing), begin_ns_(now_ns), random_(seed), next_attempt_ns_(now_ns) {
  status_.live = true;
  status_.since_ns = now_ns;
}

void LiveStateMachine::enter(LiveState state, int64_t now_ns, std::string reason) {
  status_.reason = std::move(reason);
  if (status_.state == state) return;
  status_.state = state, status_.since_ns = now_ns;
}

void LiveStateMachine::attempt_started() {
  ++status_.attempts;
  busy_ = true, no_picture_yet_ = true;
}

void LiveStateMachine::frame(int64_t now_ns) {
  if (no_picture_yet_ && status_.frames > 0 && !requested_) ++status_.reconnects;
  if (!no_picture_yet_) {
    // Measure also while stalled: the pictures of a slow camera or decoder always arrive after the first
    // limit. A longer interval would not raise the limit further.
    const int64_t interval = std::min(now_ns - status_.last_frame_ns, kLongestStall / kMissedIntervals);
    interval_ns_ = interval_ns_ ? interval_ns_ + (interval - interval_ns_) / 8 : interval;
  }
  if (no_picture_yet_) first_picture_ns_ = now_ns;
  no_picture_yet_ = requested_ = false;
  refused_logins_ = 0;
  ++status_.frames;
  status_.last_frame_ns = now_ns;
  if (status_.state != LiveState::playing) enter(LiveState::playing, now_ns, {});
}

void LiveStateMachine::lost(int64_t now_ns, const std::string& reason, ConnectionLoss loss) {
  busy_ = requested_ = false;
  if (outage_ns_ == 0 || lasted(now_ns)) outage_ns_ = now_ns;
  no_picture_yet_ = true;
  std::string text = reason;
  if (loss == ConnectionLoss::login) {
    ++refused_logins_;
    const int64_t wait = login_wait_ns();
    next_attempt_ns_ = now_ns + wait;
    text += fmt::format("{}{} s", kNextAttempt, wait / 1'000'000'000);
  } else {
    next_attempt_ns_ = now_ns + retry_wait_ns(now_ns);
  }
  enter(status_.frames > 0 ? LiveState::reconnecting : LiveState::connecting, now_ns, std::move(text));
}

void LiveStateMachine::restart(int64_t now_ns) {
  if (!requested_) requested_ns_ = now_ns;
  busy_ = false, requested_ = true;
  next_attempt_ns_ = now_ns;
}

void LiveStateMachine::tick(int64_t now_ns) {
  if (status_.state != LiveState::playing || now_ns < stall_time_ns()) return;
  ++status_.stalls;
  enter(LiveState::stalled, now_ns, "no new pictures");
}

int64_t LiveStateMachine::next_event_ns() const {
  int64_t next = std::numeric_limits<int64_t>::max();
  if (status_.state == LiveState::playing) next = stall_time_ns();
  return busy_ ? next : std::min(next, next_attempt_ns_);
}

int64_t LiveStateMachine::stall_limit_ns() const {
  return std::clamp(kMissedIntervals * interval_ns_, timing_.stall_ns,
                    std::max(timing_.stall_ns, kLongestStall));
}

/// Returns the time at which a playing source without further pictures is stalled.
int64_t LiveStateMachine::stall_time_ns() const {
  const int64_t silent = status_.last_frame_ns + stall_limit_ns();
  return requested_ ? std::max(silent, requested_ns_ + timing_.restart_ns) : silent;
}

/// Returns the wait after a refused login, without jitter.
int64_t LiveStateMachine::login_wait_ns() const {
  if (refused_logins_ <= 1) return timing_.first_login_ns;
  return std::min(timing_.slow_login_ns, timing_.login_ns << std::min(refused_logins_ - 2, 16));
}

int64_t LiveStateMachine::retry_wait_ns(int64_t now_ns) {
  const int64_t outage = now_ns - outage_ns_;
  const int64_t wait = outage < timing_.eager_ns
                           ? timing_.retry_ns
                           : std::clamp(outage / kOutageShare, timing_.retry_ns,
                                        std::max(timing_.retry_ns, timing_.slow_retry_ns));
  // Jitter: up to 20 % shorter.
  return wait - wait / 5 * static_cast<int64_t>(random_() % 1000) / 1000;
}

}  // namespace lensd
