// The pipeline's process thread: waits until frames are due, and applies commands during the wait.
//
// A picture is processed shortly before it is due. Until then the shown picture remains the current one:
// pauses, seeks and changed parameters apply to it. While a long picture is shown, the position advances.
#include <algorithm>
#include <chrono>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"

namespace lensd {
namespace {

/// A picture is processed kAheadNs + 2 · (the graph's time for the previous picture) before it is due.
constexpr int64_t kAheadNs = 100'000'000;
/// If a picture is shown for longer than kLongNs, the position advances within it, once per kAdvanceNs.
constexpr int64_t kLongNs = 250'000'000, kAdvanceNs = 100'000'000;
/// Sound that continues after the last picture is not played if it is shorter than this.
constexpr int64_t kShortSoundNs = 250'000'000;
/// After a pause, waits at most this long for sound that continues after the last picture.
constexpr int64_t kSoundPatienceNs = 1'000'000'000;

}  // namespace

/// Waits until the frame is due, then records the latency of its stages.
void Pipeline::pace(FrameInfo& info) {
  source_info_.live ? wait_for_sound(info.due_ns) : wait_until_due(info.pts_ns);
  const int64_t end = now_ns();
  timeline_.record(process_track_, pace_label_, info.index, info.processed_ns, end);
  if (info.capture_ns < timed_from_ns_) return;
  info.published_ns = end;
  profiler_.record(ahead_scope_, info.taken_ns - info.capture_ns);
  profiler_.record(graph_scope_, info.processed_ns - info.taken_ns);
  profiler_.record(pace_scope_, end - info.processed_ns);
}

/// Waits until the frame of a file is due and applies commands during the wait. Returns early after a pause,
/// seek or change of speed, or if stopping.
void Pipeline::wait_until_due(int64_t pts_ns) {
  for (;;) {
    const int64_t now = now_ns();
    const PlaybackClock::Wait wait = sound_.until_due(clock_, pts_ns, state_.frame_duration_ns, now);
    if (wait.late) timeline_.sample(late_counter_, static_cast<int64_t>(++state_.late), now);
    if (wait.ns <= 0 || !command_signal_.try_acquire_for(std::chrono::nanoseconds(wait.ns))) return;
    const uint32_t serial = seek_serial_.load(std::memory_order_relaxed);
    apply_commands();
    if (stopping() || state_.paused || !clock_.running() ||
        serial != seek_serial_.load(std::memory_order_relaxed))
      return;
  }
}

/// Returns false if the next picture, at `next_ns`, must be processed now. Otherwise the shown picture of a
/// file is long: waits for a part of the remaining time, or until a command, applies commands and returns
/// true.
bool Pipeline::stay(int64_t next_ns) {
  if (!options_.paced || source_info_.live || show_one_ || step_frames_ > 0 || seek_target_ns_ ||
      state_.ended || state_.frame_index < 0 || next_->serial != seek_serial_.load(std::memory_order_acquire))
    return false;
  const int64_t ahead_ns = kAheadNs + 2 * graph_ns_;
  if (clock_.shown_ns(state_.position_ns, next_ns) <= ahead_ns) return false;
  const int64_t now = now_ns();
  if (!clock_.running()) sound_.until_due(clock_, state_.position_ns, state_.frame_duration_ns, now);
  sound_.follow_sound(clock_);
  const int64_t wait_ns = clock_.until(next_ns, now) - ahead_ns;
  if (wait_ns <= 0) return false;
  wait_in_picture(wait_ns, next_ns);
  return true;
}

/// Waits until the last frame has been shown for its duration, and applies commands during the wait. With
/// `whole_sound`, also waits for the rest of the sound. Returns false after a seek or if stopping, else true.
/// Returns true at once in unpaced runs, after a step, and while paused.
bool Pipeline::show_last_frame(bool whole_sound) {
  if (!options_.paced || source_info_.live || state_.paused || show_one_ || step_frames_ > 0 ||
      seek_target_ns_ || state_.frame_index < 0)
    return true;
  int64_t picture_end_ns = shown_ns_ + state_.frame_duration_ns;
  if (source_info_.duration_ns > 0) picture_end_ns = std::min(picture_end_ns, source_info_.duration_ns);
  int64_t end_ns = picture_end_ns, resumed_ns = now_ns();
  bool sound_continues = false;  // after the picture
  const uint32_t serial = seek_serial_.load(std::memory_order_relaxed);
  const auto moved = [&] {
    return stopping() || serial != seek_serial_.load(std::memory_order_relaxed) || step_frames_ > 0;
  };
  while (!moved()) {
    if (state_.paused) {
      supply_sinks();
      command_signal_.acquire();
      apply_commands();
      continue;
    }
    const int64_t now = now_ns();
    if (!clock_.running()) {
      sound_.until_due(clock_, state_.position_ns, state_.frame_duration_ns, now);
      resumed_ns = now;
    }
    sound_.follow_sound(clock_);
    const int64_t sound_end_ns = whole_sound ? sound_.end_ns() : 0;
    const bool known = sound_end_ns < INT64_MAX;
    if (known && sound_end_ns > picture_end_ns + kShortSoundNs) end_ns = sound_end_ns;
    sound_continues = sound_continues || !known || end_ns > picture_end_ns;
    const bool after_pause = sound_continues && now - resumed_ns < kSoundPatienceNs;
    const bool more = !known || (after_pause && sound_end_ns == 0);
    const int64_t wait_ns = clock_.until(end_ns, now);
    if (wait_ns <= 0 && !more) break;
    wait_in_picture(wait_ns > 0 ? wait_ns : kAdvanceNs, wait_ns > 0 ? end_ns : INT64_MAX);
  }
  return !stopping() && serial == seek_serial_.load(std::memory_order_relaxed);
}

/// Waits for a part of `wait_ns`, or until a command, and applies commands. If the shown picture, which ends
/// at `end_ns`, lasts long, advances the position and returns to A when it reaches B.
void Pipeline::wait_in_picture(int64_t wait_ns, int64_t end_ns) {
  rerun_if_outdated();
  supply_sinks();
  const bool advances = end_ns - shown_ns_ > kLongNs;
  wait_ns = std::min(wait_ns, kAdvanceNs);
  // Wait at most until B. A position that does not advance never reaches B. Beyond B, the wait would be 0.
  if (advances && loops_a_b() && state_.loop_b_ns > state_.position_ns)
    wait_ns = std::min(wait_ns, std::max<int64_t>(clock_.until(state_.loop_b_ns, now_ns()), 0));
  const bool command = command_signal_.try_acquire_for(std::chrono::nanoseconds(wait_ns));
  if (advances) {
    sound_.follow_sound(clock_);
    // The end of the sound may become known only after the position has passed it.
    state_.position_ns = std::max(state_.position_ns, std::min(clock_.position(now_ns()), end_ns));
  }
  stays_ = true;
  if (command) apply_commands();
  stays_ = false;
  if (!command) publish_status(), options_.on_change();
  follow_a_b_loop();
}

/// Returns how much longer the shown picture of a file stays; 0 if another one, or the end, follows soon.
int64_t Pipeline::long_rest_ns() const {
  if (!options_.paced || source_info_.live || state_.ended || seek_target_ns_ || !passed_on_) return 0;
  const bool known = next_ && next_->picture;
  const int64_t end_ns = known ? next_->picture.info.pts_ns : shown_ns_ + state_.frame_duration_ns;
  const int64_t rest_ns = end_ns - state_.position_ns;
  return rest_ns > kLongNs ? rest_ns : 0;
}

/// Returns to A when playback reaches B. After a seek beyond B, playback continues there, as in mpv. A new
/// loop returns to A even from positions beyond B.
void Pipeline::follow_a_b_loop() {
  if (!loops_a_b() || seek_target_ns_) return;
  if (state_.position_ns < state_.loop_b_ns)
    loop_armed_ = true;
  else if (loop_armed_ && !state_.paused)
    request_seek(state_.loop_a_ns);
}

/// Call at the end of the stream. Starts over in a loop: at A if B is within the last picture or after it, so
/// that playback did not reach B. Ends the run if the last seek for a loop found no picture, because the next
/// one would find none either.
void Pipeline::end_of_stream() {
  // There may be no picture after A, for example if the audio is longer than the video.
  const bool reaches_a = shown_ns_ + state_.frame_duration_ns > state_.loop_a_ns;
  if (loops_a_b() && loop_armed_ && !state_.paused && !seek_target_ns_ && reaches_a)
    return request_seek(state_.loop_a_ns);
  const bool again = loops_file() && state_.processed > 0 && seek_target_ns_ != 0;
  again ? request_seek(0) : end_run();
}

}  // namespace lensd
