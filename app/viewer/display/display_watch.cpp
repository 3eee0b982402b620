#include "app/viewer/display/display_watch.hpp"

#include <cmath>

#include "core/base/clock.hpp"

namespace lensd {

void DisplayWatch::uploaded(const FrameInfo& info, int64_t begin_ns, int64_t end_ns) noexcept {
  timeline_.record(track_, present_label_, info.index, begin_ns, end_ns);
  new_frame_ = info, uploaded_ns_ = end_ns;
}

void DisplayWatch::drawn() noexcept {
  drawn_ns_ = now_ns();
}

int64_t DisplayWatch::presented(double speed, bool still) noexcept {
  const int64_t time_ns = now_ns();
  if (!new_frame_) {
    timeline_.record(track_, swap_label_, -1, drawn_ns_, time_ns);
    return 0;
  }
  const FrameInfo info = *new_frame_;
  new_frame_.reset();
  timeline_.record(track_, draw_label_, info.index, uploaded_ns_, drawn_ns_);
  timeline_.record(track_, swap_label_, info.index, drawn_ns_, time_ns);
  const bool timed = info.published_ns > 0 && !still;
  if (timed) count_repeats(info, time_ns, speed);
  last_ = info, last_ns_ = timed ? time_ns : 0;
  if (!timed) return 0;
  const int64_t total = time_ns - info.capture_ns;
  const int64_t waits = (info.taken_ns - info.capture_ns) + (info.published_ns - info.processed_ns);
  profiler_.record(upload_scope_, uploaded_ns_ - info.published_ns);
  profiler_.record(present_scope_, time_ns - uploaded_ns_);
  profiler_.record(work_scope_, total - waits);
  profiler_.record(total_scope_, total);
  return total - waits;
}

void DisplayWatch::count_repeats(const FrameInfo& info, int64_t time_ns, double speed) noexcept {
  const bool follows = last_ns_ > 0 && info.serial == last_.serial && info.pts_ns > last_.pts_ns;
  const int64_t duration = last_.duration_ns > 0 ? last_.duration_ns : info.pts_ns - last_.pts_ns;
  if (!follows || duration <= 0 || speed <= 0) return;
  // Compare the intended with the actual time on the screen. Skipped frames do not count as repeats.
  const double due = static_cast<double>(info.pts_ns - last_.pts_ns) / speed;
  const double excess = static_cast<double>(time_ns - last_ns_) - due;
  const auto times = std::floor(excess / (static_cast<double>(duration) / speed) + 0.5);
  if (times < 1) return;
  repeated_ += static_cast<uint64_t>(times);
  timeline_.sample(repeated_label_, static_cast<int64_t>(repeated_), time_ns);
}

}  // namespace lensd
