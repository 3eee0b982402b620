#include "core/media/input/timestamps.hpp"

#include <algorithm>

namespace lensd {

int64_t TimestampNormalizer::normalize(std::optional<int64_t> raw_ns) {
  constexpr int64_t kJumpNs = 1'000'000'000;
  int64_t pts = next_ns_;
  if (raw_ns) {
    if (!origin_ns_) origin_ns_ = *raw_ns - next_ns_;
    pts = *raw_ns - *origin_ns_ + offset_ns_;
    if (last_ns_ >= 0 && pts < last_ns_ - kJumpNs) offset_ns_ += next_ns_ - pts;
    if (pts <= last_ns_) pts = next_ns_;
    pts = std::max<int64_t>(pts, 0);
  }
  last_ns_ = pts;
  next_ns_ = pts + nominal_ns_;
  return pts;
}

void TimestampNormalizer::restart(int64_t position_ns) {
  offset_ns_ = 0;
  next_ns_ = position_ns;
  last_ns_ = -1;
}

}  // namespace lensd
