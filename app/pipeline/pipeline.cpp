#include "app/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxNotices = 64;

}  // namespace

Pipeline::Pipeline(std::unique_ptr<Source> source, PipelineOptions options, const Registry& registry)
    : source_(std::move(source)),
      source_info_(source_->info()),
      options_(std::move(options)),
      registry_(registry),
      executor_(make_executor(options_.backend, options_.executor, profiler_, timeline_)),
      graph_(resolved(options_.graph, registry)),
      paused_(options_.paused),
      loop_file_(options_.loop_file) {
  loop_now_ = loop_file_;
  for (const auto& sink : options_.sinks) sink->attach(executor_->device_sync());
  name_scopes();
  paused_now_ = paused_;
  show_one_ = paused_;  // a paused start still shows its first frame
  wanted_ = graph_;
  // Errors in the graph come out here, on the caller's thread.
  source_info_.live ? install_for_live(source_info_.picture) : install_now(source_info_.picture);
}

void Pipeline::name_scopes() {
  decode_scope_ = profiler_.scope("decode", source_info_.decoder.empty() ? "decode" : source_info_.decoder);
  decode_track_ = timeline_.track("decode thread");
  decode_label_ = timeline_.label("decode");
  process_track_ = timeline_.track("process thread");
  run_label_ = timeline_.label("graph"), pace_label_ = timeline_.label("wait for its time");
  waiting_counter_ = timeline_.counter("decoded pictures waiting");
  finished_counter_ = timeline_.counter("finished frames waiting");
  late_counter_ = timeline_.counter("late frames"),
  not_shown_counter_ = timeline_.counter("frames not shown");
  if (!options_.paced) return;
  ahead_scope_ = profiler_.scope(kLatencyRow, "ahead");
  graph_scope_ = profiler_.scope(kLatencyRow, "graph");
  pace_scope_ = profiler_.scope(kLatencyRow, "pace");
}

/// One more in a total that the timeline follows.
void Pipeline::count(std::atomic<uint64_t>& total, int counter) noexcept {
  const uint64_t now = total.fetch_add(1, std::memory_order_relaxed) + 1;
  timeline_.sample(counter, static_cast<int64_t>(now), now_ns());
}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::start() {
  decode_thread_ = std::thread([this] { guarded(&Pipeline::decode_loop); });
  planner_thread_ = std::thread([this] { guarded(&Pipeline::planner_loop); });
  process_thread_ = std::thread([this] { guarded(&Pipeline::process_loop); });
}

void Pipeline::stop() {
  stopping_.store(true, std::memory_order_release);
  source_->interrupt();
  seek_serial_.fetch_add(1, std::memory_order_release);
  seek_serial_.notify_all();
  pictures_.close();
  commands_.close();
  plan_requests_.close();
  planned_.close();
  frames_.close();
  executor_->close();
  for (const auto& sink : options_.sinks) sink->stop_soon();
  command_signal_.release();
  if (decode_thread_.joinable()) decode_thread_.join();
  if (process_thread_.joinable()) process_thread_.join();
  if (planner_thread_.joinable()) planner_thread_.join();
}

void Pipeline::guarded(void (Pipeline::*loop)()) {
  try {
    (this->*loop)();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
  if (failed_.load(std::memory_order_acquire)) {
    pictures_.close();
    frames_.close();
    command_signal_.release();
    options_.on_frame();
  }
}

void Pipeline::check() const {
  if (!failed_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

// ---- process thread -------------------------------------------------------------------------------------

void Pipeline::process_loop() {
  while (!stopping()) {
    const uint32_t wakes = pictures_.wake_token();
    process_turns_.fetch_add(1, std::memory_order_relaxed);
    apply_commands();
    if (stopping()) return;
    if ((paused_ && !show_one_ && step_frames_ <= 0) || (source_ended_ && options_.paced)) {
      if (pictures_.closed()) return;
      command_signal_.acquire();
      continue;
    }
    auto next = pictures_.pop_or_wake(wakes);
    if (!next) {
      if (pictures_.closed()) return;
      continue;
    }
    if (source_ended_) continue;  // decoded ahead, behind the last frame that was asked for
    if (next->serial != seek_serial_.load(std::memory_order_acquire)) continue;  // from before a seek
    if (next->picture)
      process(std::move(next->picture));
    else
      end_of_stream();
  }
}

void Pipeline::process(Picture picture) {
  if (picture.planes.info != executor_->plan()->picture) {
    notice(false, fmt::format("the source is now {}×{} {}", picture.planes.info.extent.width,
                              picture.planes.info.extent.height, describe(picture.planes.info)));
    source_info_.live ? install_for_live(picture.planes.info) : install_now(picture.planes.info);
  }
  // A live source came back or went: what filters remember is of another picture.
  if (source_info_.live && current_picture_ && current_picture_.info.serial != picture.info.serial)
    executor_->reset_state();
  current_picture_ = std::move(picture);
  current_picture_.info.taken_ns = now_ns();
  timeline_.sample(waiting_counter_, static_cast<int64_t>(pictures_.size()), current_picture_.info.taken_ns);
  if (current_picture_.info.duration_ns > 0)
    frame_duration_ns_.store(current_picture_.info.duration_ns, std::memory_order_relaxed);
  Frame frame = executor_->run(current_picture_);
  if (!frame) return;
  processed_.fetch_add(1, std::memory_order_relaxed);
  timeline_.record(process_track_, run_label_, current_picture_.info.index, current_picture_.info.taken_ns,
                   frame.info.processed_ns);
  if (options_.paced && !paused_ && !show_one_) pace(frame.info);
  frame_index_.store(current_picture_.info.index, std::memory_order_relaxed);
  position_ns_.store(current_picture_.info.pts_ns, std::memory_order_relaxed);
  show_one_ = false;
  if (step_frames_ > 0) --step_frames_;
  const bool last =
      options_.max_frames > 0 && processed_.load() >= static_cast<uint64_t>(options_.max_frames);
  if (options_.sinks.empty()) {
    publish(std::move(frame));
  } else {
    publish(frame.share());  // the display first: a sink may wait
    for (const auto& sink : options_.sinks) sink->take(frame, current_picture_);
    frame.reset();
  }
  if (last)
    end_of_stream();
  else if (loop_b_ns_ >= 0 && loop_a_ns_ >= 0 && current_picture_.info.pts_ns >= loop_b_ns_)
    request_seek(loop_a_ns_);
}

/// The held picture again, with the parameters as they are now: tuning while paused.
void Pipeline::rerun_current() {
  if (current_picture_.planes.info != executor_->plan()->picture) return;
  Frame frame = executor_->run(current_picture_, true);
  if (!frame) return;
  made_again_.fetch_add(1, std::memory_order_relaxed);
  publish(std::move(frame));
}

/// Waits for the frame's time, and keeps how long its stages took.
void Pipeline::pace(FrameInfo& info) {
  wait_until_due(info.pts_ns);
  const int64_t end = now_ns();
  timeline_.record(process_track_, pace_label_, info.index, info.processed_ns, end);
  if (info.capture_ns < timed_from_ns_) return;
  info.published_ns = end;
  profiler_.record(ahead_scope_, info.taken_ns - info.capture_ns);
  profiler_.record(graph_scope_, info.processed_ns - info.taken_ns);
  profiler_.record(pace_scope_, end - info.processed_ns);
}

void Pipeline::rebase_clock(int64_t pts_ns) {
  clock_wall_ns_ = now_ns(), clock_pts_ns_ = pts_ns, clock_set_ = true;
}

/// Sleeps until the frame's time; a command ends the sleep early only to be applied.
void Pipeline::wait_until_due(int64_t pts_ns) {
  if (source_info_.live) return;
  if (!clock_set_) return rebase_clock(pts_ns);
  for (;;) {
    const int64_t due =
        clock_wall_ns_ + static_cast<int64_t>(static_cast<double>(pts_ns - clock_pts_ns_) / speed_);
    const int64_t wait = due - now_ns();
    const int64_t duration = std::max<int64_t>(frame_duration_ns_.load(std::memory_order_relaxed), 1'000'000);
    if (wait < -duration) count(late_, late_counter_);
    if (wait < -4 * duration) return rebase_clock(pts_ns);  // too slow for real time: go on from here
    if (wait <= 0) return;
    if (wait > 10'000'000'000) return rebase_clock(pts_ns);  // a leap in the time stamps
    if (!command_signal_.try_acquire_for(std::chrono::nanoseconds(wait))) return;
    const uint32_t serial = seek_serial_.load(std::memory_order_relaxed);
    apply_commands();
    if (stopping() || paused_ || !clock_set_ || serial != seek_serial_.load(std::memory_order_relaxed))
      return;
  }
}

/// Hands the frame on; true unless the pipeline stops.
bool Pipeline::publish(Frame frame) {
  if (options_.paced) {
    while (!frames_.try_push(frame)) {
      if (frames_.closed()) return false;
      if (frames_.try_pop()) count(not_shown_, not_shown_counter_);
    }
  } else if (!frames_.push(frame)) {
    return false;
  }
  timeline_.sample(finished_counter_, static_cast<int64_t>(frames_.size()), now_ns());
  options_.on_frame();
  return true;
}

void Pipeline::request_seek(int64_t position_ns) {
  if (!source_info_.seekable) return notice(true, "this source cannot seek");
  const int64_t last = source_info_.duration_ns > 0 ? source_info_.duration_ns - 1 : position_ns;
  seek_ns_.store(std::clamp<int64_t>(position_ns, 0, std::max<int64_t>(0, last)), std::memory_order_relaxed);
  seek_serial_.fetch_add(1, std::memory_order_release);
  seek_serial_.notify_all();
  while (pictures_.try_pop()) {  // room for the decoder, which may be waiting to hand over an old picture
  }
  executor_->reset_state();
  clock_set_ = false, show_one_ = paused_, step_frames_ = 0, source_ended_ = false;
  ended_.store(false, std::memory_order_release);
}

void Pipeline::end_of_stream() {
  if (loop_file_ && source_info_.seekable && processed_.load() > 0) return request_seek(0);
  source_ended_ = true;
  show_one_ = false, step_frames_ = 0;
  ended_.store(true, std::memory_order_release);
  if (!options_.paced) frames_.close();
  options_.on_frame();
  if (!options_.paced) pictures_.close();
}

void Pipeline::notice(bool problem, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (notices_.size() < kMaxNotices) notices_.push_back({problem, std::move(text)});
  }
  options_.on_change();
}

// ---- any thread, consumers ------------------------------------------------------------------------------

void Pipeline::post(Command command) {
  while (!offer(command) && !commands_.closed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

uint64_t Pipeline::try_post(Command command) {
  return offer(command);
}

/// Moves from `command` and returns its ticket, or leaves it alone and returns 0.
uint64_t Pipeline::offer(Command& command) {
  uint64_t ticket = 0;
  {
    const std::lock_guard lock(post_mutex_);
    Posted posted{std::move(command), posted_ + 1};
    if (!commands_.try_push(posted)) {
      command = std::move(posted.command);
      return 0;
    }
    ticket = ++posted_;
  }
  nudge();
  return ticket;
}

void Pipeline::nudge() {
  command_signal_.release();
  pictures_.wake();
}

Frame Pipeline::take_newest() {
  Frame newest;
  while (auto frame = frames_.try_pop()) {
    if (newest) count(not_shown_, not_shown_counter_);
    newest = std::move(*frame);
  }
  return newest;
}

Frame Pipeline::next_frame() {
  auto frame = frames_.pop();
  return frame ? std::move(*frame) : Frame();
}

PipelineStatus Pipeline::status() const {
  PipelineStatus s;
  // The mark first: whoever sees it sees what was applied before it as planning or planned.
  s.edit_mark = edit_mark_.load(std::memory_order_acquire);
  s.planning = planning_now_.load(std::memory_order_acquire);
  s.frame_index = frame_index_, s.position_ns = position_ns_, s.frame_duration_ns = frame_duration_ns_;
  s.decoded = decoded_, s.processed = processed_, s.late = late_, s.not_shown = not_shown_;
  s.applied = applied_.load(std::memory_order_acquire);
  s.decode_turns = decode_turns_, s.process_turns = process_turns_;
  s.bypass = bypass_now_, s.loop_file = loop_now_;
  s.queue_full = pictures_.size() >= pictures_.capacity();
  s.live = source_->live_status();
  s.dropped = dropped_ + s.live.dropped, s.skipped = skipped_;
  s.placeholders = placeholders_, s.made_again = made_again_;
  s.paused = paused_now_, s.ended = ended_, s.failed = failed_, s.speed = speed_now_;
  return s;
}

void Pipeline::end_early() {
  frames_.close();
}

std::shared_ptr<const GraphView> Pipeline::graph() const {
  const std::lock_guard lock(mutex_);
  return graph_view_;
}

std::vector<PipelineNotice> Pipeline::take_notices() {
  std::vector<PipelineNotice> all;
  for (const auto& sink : options_.sinks)
    for (SinkNotice& n : sink->take_notices()) all.push_back({n.problem, std::move(n.text)});
  const std::lock_guard lock(mutex_);
  all.insert(all.end(), std::make_move_iterator(notices_.begin()), std::make_move_iterator(notices_.end()));
  notices_.clear();
  return all;
}

std::vector<PlanOutcome> Pipeline::take_outcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

std::string Pipeline::source_errors() const {
  const std::lock_guard lock(mutex_);
  return stream_errors_;
}

}  // namespace lensd
