#include "core/media/input/times/timestamps.hpp"

#include <algorithm>

#include "core/base/clock.hpp"

namespace lensd {

int64_t TimestampNormalizer::normalize(std::optional<int64_t> raw_ns) {
  int64_t pts = next_ns_;
  if (raw_ns && plausible(*raw_ns)) {
    pts = after_jump(*raw_ns);
    if (pts <= last_ns_)
      pts = late_time(pts);
    else
      late_ = 0;
    pts = std::max<int64_t>(pts, 0);
  }
  last_ns_ = pts;
  // A forged frame rate may result in a nominal duration of years.
  next_ns_ = plausible(pts + nominal_ns_) ? pts + nominal_ns_ : pts + 1;
  return pts;
}

/// Returns the time of a frame whose own time `pts` is not after the previous one. If several frames in a row
/// are late because of an extra frame before them, they follow at half the interval until they catch up.
int64_t TimestampNormalizer::late_time(int64_t pts) {
  constexpr int kLateInARow = 2;
  const int64_t half = nominal_ns_ / 2;
  const bool catches_up = ++late_ > kLateInARow && half > 0 && pts - late_ns_ >= half;
  late_ns_ = pts;
  return catches_up ? last_ns_ + half : next_ns_;
}

/// Returns the time since the origin. After a jump, continues at next_ns_. Sets a new origin if the result or
/// the sum of all jumps is implausible.
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
  last_ns_ = -1, late_ = 0;
}

}  // namespace lensd
