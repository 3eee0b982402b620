#include "core/media/input/timestamps.hpp"

#include <algorithm>

#include "core/base/clock.hpp"

namespace lensd {

int64_t TimestampNormalizer::normalize(std::optional<int64_t> raw_ns) {
  int64_t pts = next_ns_;
  if (raw_ns && plausible(*raw_ns)) {
    pts = after_jump(*raw_ns);
    if (pts <= last_ns_) pts = next_ns_;
    pts = std::max<int64_t>(pts, 0);
  }
  last_ns_ = pts;
  next_ns_ = pts + nominal_ns_;
  return pts;
}

/// Returns the time since the origin. After a jump, continues at next_ns_. If the sum of all jumps is absurd,
/// continues there from the following time on.
int64_t TimestampNormalizer::after_jump(int64_t raw_ns) {
  if (!origin_ns_) origin_ns_ = raw_ns - next_ns_;
  const int64_t pts = raw_ns - *origin_ns_ + offset_ns_;
  if (!plausible(pts)) return origin_ns_ = raw_ns - next_ns_, offset_ns_ = 0, next_ns_;
  if (last_ns_ < 0 || !is_jump(pts, last_ns_)) return pts;
  offset_ns_ += next_ns_ - pts;
  if (!plausible(offset_ns_)) origin_ns_ = raw_ns - next_ns_, offset_ns_ = 0;
  return next_ns_;
}

void TimestampNormalizer::restart(int64_t position_ns) {
  offset_ns_ = 0;
  next_ns_ = position_ns;
  last_ns_ = -1;
}

}  // namespace lensd
