// The pipeline's process thread with a live source: its connections, bursts of pictures, and the wait for
// their sound. Also passes frames to the sinks.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"

namespace lensd {
namespace {

/// A live picture that waited longer than this is dropped if other pictures wait behind it.
constexpr int64_t kLatestNs = 250'000'000;

}  // namespace

/// Call before each picture of a live source. At the first one of a connection, and after placeholders,
/// resets the filters' state, which belongs to the earlier pictures, and passes a new rate to the sinks.
void Pipeline::follow_connection(const FrameInfo& next) {
  if (current_picture_ && current_picture_.info.serial == next.serial) return;
  if (current_picture_) executor_->reset_state();
  if (next.placeholder) return;
  const double rate = source_->live_status().nominal_rate;
  if (rate <= 0 || rate == announced_rate_) return;
  announced_rate_ = rate;
  for (const auto& sink : options_.sinks) sink->rate_changed(rate);
}

/// Notes whether a live picture is part of a burst. Drops it and returns true if the graph is behind.
bool Pipeline::too_late(const DecodedPicture& next) {
  if (!source_info_.live || !options_.paced || !next.picture) return false;
  const bool others_wait = pictures_.size() > 0;
  burst_ = std::exchange(others_wait_, others_wait) || others_wait;
  if (!others_wait || now_ns() - next.queued_ns <= kLatestNs) return false;
  dropped_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Waits until the sound of a live picture is heard. Applies commands during the wait. `due_ns`: value of
/// FrameInfo::due_ns.
void Pipeline::wait_for_sound(int64_t due_ns) {
  while (!stopping() && !state_.paused) {
    const int64_t wait_ns = due_ns - now_ns();
    if (wait_ns <= 0 || !command_signal_.try_acquire_for(std::chrono::nanoseconds(wait_ns))) return;
    apply_commands();
  }
}

/// Passes the frame to the sinks for which `chosen` returns true, or to all sinks if `chosen` is null.
void Pipeline::pass_to_sinks(const Frame& frame, SinkChoice chosen) {
  const PixelAspect upright = source_->pixel_aspect();
  const bool turned = current_picture_.planes.info.orientation.transpose;
  const PixelAspects aspects{state_.pixel_aspect, turned ? upright.turned() : upright};
  const Arrival arrival{burst_, dropped_.load(std::memory_order_relaxed)};
  for (const auto& sink : options_.sinks) {
    if (chosen && !(*sink.*chosen)()) continue;
    if (source_info_.live) sink->arriving(arrival);
    sink->take(frame, current_picture_, aspects);
  }
}

/// Passes the shown picture to the recorders when a recording starts, if no other picture follows soon: a
/// still image, a cover picture, a still in a clip. The sinks have received it before.
void Pipeline::record_shown() {
  if (source_info_.image && passed_on_ && !seek_target_ns_)
    pass_again(&FrameSink::wants_every_frame);
  else if (const int64_t rest_ns = long_rest_ns(); rest_ns > 0)
    pass_again(&FrameSink::wants_every_frame, rest_ns);
}

/// Call before a recording ends. If the shown picture stays for longer, passes it to the recorders again, so
/// that the recording ends at the current position and not with the picture.
void Pipeline::end_recorded_picture() {
  if (!source_info_.image && long_rest_ns() > 0) pass_again(&FrameSink::wants_every_frame, 0);
}

/// Passes the current picture to sinks that need a frame and have received none, such as a virtual camera
/// that was switched on while playback is paused. Call while no new picture comes.
void Pipeline::supply_sinks() {
  if (passed_on_) pass_again(&FrameSink::wants_current_frame);
}

/// Passes the current picture to the chosen sinks again. With `rest_ns`, it begins at the current position
/// and has this duration.
void Pipeline::pass_again(SinkChoice chosen, std::optional<int64_t> rest_ns) {
  const auto wants = [chosen](const auto& sink) { return (*sink.*chosen)(); };
  if (std::ranges::none_of(options_.sinks, wants)) return;
  if (current_picture_.planes.info != executor_->plan()->picture) return;
  Frame frame = run_current_picture(true);
  if (!frame) return;
  if (rest_ns) frame.info.pts_ns = state_.position_ns, frame.info.duration_ns = *rest_ns;
  pass_to_sinks(frame, chosen);
}

}  // namespace lensd
