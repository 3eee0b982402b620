#include "core/media/input/timestamps.hpp"

namespace lensd {
namespace {
constexpr int64_t kJump = 1'000'000'000;
}

int64_t TimestampSmoother::place(std::optional<int64_t> raw_ns) {
  int64_t pts = next_ns_;
  if (raw_ns) {
    if (!origin_ns_) origin_ns_ = *raw_ns - next_ns_;
    pts = *raw_ns - *origin_ns_ + moved_ns_;
    if (last_ns_ >= 0 && pts < last_ns_ - kJump) {
      moved_ns_ += next_ns_ - pts;
      pts = next_ns_;
    }
    if (pts <= last_ns_) pts = next_ns_;
    if (pts < 0) pts = 0;
  }
  last_ns_ = pts;
  next_ns_ = pts + nominal_ns_;
  return pts;
}

void TimestampSmoother::restart(int64_t position_ns) {
  moved_ns_ = 0;
  next_ns_ = position_ns;
  last_ns_ = -1;
}

}  // namespace lensd
