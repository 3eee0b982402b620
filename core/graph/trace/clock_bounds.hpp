// Another clock's times against the host's.
#pragma once

#include <cstdint>

namespace lensd {

/// What another clock says of a piece of work, and what the host knows: it cannot begin before it was asked
/// for, nor end after its end was seen.
struct ClockBounds {
  int64_t asked_ns = 0, seen_ns = 0;   ///< host's clock
  int64_t began_ns = 0, ended_ns = 0;  ///< the other clock
};

/// What must be added to the other clock's times so that both hold; 0 while they do. Where the clocks drift
/// apart, they stay together to within the delay of one start or one notice that way.
constexpr int64_t clock_correction(const ClockBounds& b) noexcept {
  if (b.began_ns < b.asked_ns) return b.asked_ns - b.began_ns;
  if (b.ended_ns > b.seen_ns) return b.seen_ns - b.ended_ns;
  return 0;
}

}  // namespace lensd
