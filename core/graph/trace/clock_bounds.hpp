// Bounds on the offset between another clock and the host clock.
#pragma once

#include <cstdint>

namespace lensd {

/// Times of one operation. It cannot begin before the host queued it, nor end after the host saw its end.
struct ClockBounds {
  int64_t queued_ns = 0, seen_ns = 0;  ///< host clock
  int64_t begin_ns = 0, end_ns = 0;    ///< other clock
};

/// Returns the nanoseconds to add to the other clock so that the operation begins after it was queued and
/// ends before its end was seen. Returns 0 if both already hold. The remaining error is at most the delay
/// between queueing and beginning, or between the end and its notification.
constexpr int64_t clock_correction(const ClockBounds& b) noexcept {
  if (b.begin_ns < b.queued_ns) return b.queued_ns - b.begin_ns;
  if (b.end_ns > b.seen_ns) return b.seen_ns - b.end_ns;
  return 0;
}

}  // namespace lensd
