#include "app/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <system_error>

#include "app/pipeline/output_aspect.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/burst.hpp"

namespace lensd {
namespace {

/// Returns a copy of `command` if it sets or resets the source's controls, else nullopt.
std::optional<Command> source_command(const Command& command) {
  const bool for_source = std::holds_alternative<SetSourceControls>(command) ||
                          std::holds_alternative<ResetSourceControls>(command);
  return for_source ? std::optional(command) : std::nullopt;
}

}  // namespace

Pipeline::Pipeline(std::unique_ptr<Source> source, PipelineOptions options, const Registry& registry)
    : source_(std::move(source)),
      source_info_(source_->info()),
      options_(std::move(options)),
      registry_(registry),
      pictures_(source_info_.live ? kBurstPictures : kQueuedPictures),
      graph_(resolved(options_.graph, registry)),
      requested_(graph_),
      sound_(options_.sound) {
  state_.precision = options_.precision, state_.colour = options_.colour;
  state_.paused = options_.paused, state_.loop_file = options_.loop_file;
  if (!source_info_.times_may_jump) clock_.trust_until(source_info_.duration_ns);
  show_one_ = state_.paused;  // a paused start shows the first frame
  register_scopes();
  install_first();
  for (const auto& sink : options_.sinks) sink->attach(executor_->device_sync());
  publish_status();
}

void Pipeline::register_scopes() {
  decode_scope_ = profiler_.scope("decode", source_info_.decoder.empty() ? "decode" : source_info_.decoder);
  decode_track_ = timeline_.track("decode thread");
  decode_label_ = timeline_.label("decode");
  process_track_ = timeline_.track("process thread");
  run_label_ = timeline_.label("graph"), pace_label_ = timeline_.label("wait until due");
  waiting_counter_ = timeline_.label("decoded pictures waiting");
  finished_counter_ = timeline_.label("finished frames waiting");
  late_counter_ = timeline_.label("late frames"), not_shown_counter_ = timeline_.label("frames not shown");
  if (!options_.paced) return;
  ahead_scope_ = profiler_.scope(kLatencyRow, "ahead");
  graph_scope_ = profiler_.scope(kLatencyRow, "graph");
  pace_scope_ = profiler_.scope(kLatencyRow, "pace");
}

Pipeline::~Pipeline() {
  stop();
}

bool Pipeline::start() {
  if (source_info_.live) sound_.stop(0, !state_.paused);  // tells the sound whether it is paused
  try {
    decode_thread_ = std::thread([this] { run_guarded(&Pipeline::decode_loop); });
    planner_thread_ = std::thread([this] { run_guarded(&Pipeline::planner_loop); });
    process_thread_ = std::thread([this] {
      run_guarded(&Pipeline::process_loop);
      waits_since_ns_ = 0;  // a source that has failed is not stalled
      sound_.stop(0, false);
    });
    return true;
  } catch (const std::system_error&) {
    keep_failure();
    end_after_failure();
    return false;
  }
}

void Pipeline::stop() {
  stopping_.store(true, std::memory_order_release);
  source_->interrupt();
  seek_serial_.fetch_add(1, std::memory_order_release);
  seek_serial_.notify_all();
  pictures_.close();
  commands_.close();
  plan_requests_.close();
  plan_results_.close();
  frames_.close();
  executor_->close();
  for (const auto& sink : options_.sinks) sink->stop_soon();
  command_signal_.release();
  if (decode_thread_.joinable()) decode_thread_.join();
  if (process_thread_.joinable()) process_thread_.join();
  if (planner_thread_.joinable()) planner_thread_.join();
}

void Pipeline::run_guarded(void (Pipeline::*loop)()) {
  try {
    executor_->use_device();
    (this->*loop)();
  } catch (...) {
    keep_failure();
  }
  if (failed_.load(std::memory_order_acquire)) end_after_failure();
}

/// Call in a catch block. Makes check() throw the exception, unless an earlier one has ended the run.
void Pipeline::keep_failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true, std::memory_order_release);
}

/// Ends the waits of the other threads and of the consumer.
void Pipeline::end_after_failure() {
  pictures_.close();
  frames_.close();
  command_signal_.release();
  options_.on_frame();
}

BackendChoice Pipeline::backend(const BackendChoice& chosen) const {
  if (backend_problem_.empty()) return chosen;
  return {.backend = Backend::cpu, .reason = backend_problem_, .fallback = true};
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
    apply_commands();
    if (stopping()) return;
    if ((state_.paused && !show_one_ && step_frames_ <= 0) || (state_.ended && options_.paced)) {
      if (pictures_.closed()) return;
      rerun_if_outdated();  // a new plan may have come together with the pause
      waits_since_ns_ = 0;
      supply_sinks();
      command_signal_.acquire();
      continue;
    }
    if (!next_) {
      executor_->wait_for_room();
      if (waits_since_ns_ == 0) waits_since_ns_ = now_ns();
      next_ = pictures_.pop_or_wake(wakes);
      if (next_) waits_since_ns_ = 0;
      if (!next_ && pictures_.closed()) return;
    }
    if (!next_ || (next_->picture && stay(next_->picture.info.pts_ns))) continue;
    DecodedPicture next = std::move(*next_);
    next_.reset();
    if (state_.ended) continue;  // drop pictures after the last frame to process
    if (next.serial != seek_serial_.load(std::memory_order_acquire)) continue;  // decoded before a seek
    if (too_late(next)) continue;
    if (next.picture)
      process(std::move(next.picture));
    else if (show_last_frame(true))
      end_of_stream();
  }
}

void Pipeline::process(Picture picture) {
  if (!follow_format(picture.planes.info)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  retry_graph();
  if (source_info_.live) follow_connection(picture.info);
  const uint32_t serial = seek_serial_.load(std::memory_order_relaxed);
  current_picture_ = std::move(picture);
  passed_on_ = false;
  FrameInfo& info = current_picture_.info;
  info.taken_ns = now_ns();
  info.tags = current_picture_.planes.info.working(executor_->plan()->colour.bt601);
  timeline_.sample(waiting_counter_, static_cast<int64_t>(pictures_.size()), info.taken_ns);
  outdated_ = false;
  if (info.duration_ns > 0) state_.frame_duration_ns = info.duration_ns;
  if (info.fields != FieldOrder::progressive) state_.fields = info.fields;

  Frame frame = run_current_picture(false);
  if (!frame) return;
  ++state_.processed;
  graph_ns_ = frame.info.processed_ns - info.taken_ns;
  timeline_.record(process_track_, run_label_, info.index, info.taken_ns, frame.info.processed_ns);
  const uint64_t reruns = state_.reruns;
  if (options_.paced && !state_.paused && !show_one_) pace(frame.info);
  // pace() may have applied a seek; the display then keeps the previous frame. stop() also changes the
  // serial.
  if (serial != seek_serial_.load(std::memory_order_relaxed) && !stopping()) return count_not_shown();
  state_.frame_index = info.index, state_.frame_estimated = info.index_estimated;
  state_.position_ns = shown_ns_ = info.pts_ns;
  farthest_ns_ = std::max(farthest_ns_, info.pts_ns);
  seek_target_ns_.reset();
  show_one_ = show_one_ && info.placeholder;  // a paused start needs a picture of the source
  if (step_frames_ > 0) --step_frames_;
  publish_status();
  // If pace() has rerun the graph, it has already published the picture with newer parameters.
  if (reruns == state_.reruns) publish(frame.share());
  if (!options_.sinks.empty()) pass_to_sinks(frame);  // after publish(), because sinks may wait
  passed_on_ = true;
  // While playing, the next frame follows.
  if (state_.paused && reruns != state_.reruns) pass_again(&FrameSink::wants_reruns);
  frame.reset();
  if (state_.paused && step_frames_ <= 0) rerun_if_outdated();
  if (at_frame_limit()) {
    if (show_last_frame(false)) end_run();
    return;
  }
  follow_a_b_loop();
}

/// Processes the current picture again if the graph has changed since it was processed.
void Pipeline::rerun_if_outdated() {
  if (outdated_) rerun_current();
}

/// Processes the current picture again with the current parameters.
void Pipeline::rerun_current() {
  outdated_ = false;
  if (!current_picture_ || current_picture_.planes.info != executor_->plan()->picture) return;
  Frame frame = run_current_picture(true);
  if (!frame) return;
  ++state_.reruns;
  publish_status();
  publish(frame.share());
  if (passed_on_) pass_to_sinks(frame, &FrameSink::wants_reruns);
}

/// Queues the frame for the consumer. While the queue is full, drops the oldest frame in paced runs, and
/// waits in other runs.
void Pipeline::publish(Frame frame) {
  if (options_.paced) {
    while (!frames_.try_push(frame)) {
      if (frames_.closed()) return;
      if (frames_.try_pop()) count_not_shown();
    }
  } else if (!frames_.push(frame)) {
    return;
  }
  timeline_.sample(finished_counter_, static_cast<int64_t>(frames_.size()), now_ns());
  options_.on_frame();
}

/// Call after the last frame. A paced run continues after a seek.
void Pipeline::end_run() {
  if (options_.paced) rerun_if_outdated();
  state_.ended = true;
  seek_target_ns_.reset();
  show_one_ = false, step_frames_ = 0;
  publish_status();
  if (!options_.paced) frames_.close();
  options_.on_frame();
  if (!options_.paced) pictures_.close();
}

void Pipeline::publish_status() {
  state_.source_aspect = source_->pixel_aspect();
  state_.pixel_aspect = output_aspect(*executor_->plan(), state_.source_aspect);
  status_.store(state_);
}

void Pipeline::notice(bool problem, std::string text) {
  notices_.add(problem, std::move(text));
  options_.on_change();
}

// ---- any thread, consumers ------------------------------------------------------------------------------

uint64_t Pipeline::post(Command command) {
  for (;;) {
    const uint64_t ticket = try_enqueue(command);
    if (ticket != 0 || commands_.closed()) return ticket;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

uint64_t Pipeline::try_post(Command command) {
  return try_enqueue(command);
}

/// Moves `command` to the queue and returns its ticket. Returns 0 and leaves `command` unchanged if the queue
/// is full or closed.
uint64_t Pipeline::try_enqueue(Command& command) {
  uint64_t ticket = 0;
  {
    const std::lock_guard lock(post_mutex_);
    const std::optional<Command> for_source = source_command(command);
    QueuedCommand queued{std::move(command), posted_ + 1};
    if (!commands_.try_push(queued)) {
      command = std::move(queued.command);
      return 0;
    }
    if (for_source) set_source_controls(*for_source);
    ticket = ++posted_;
  }
  wake();
  return ticket;
}

void Pipeline::wake() {
  command_signal_.release();
  pictures_.wake();
}

Frame Pipeline::take_newest() {
  Frame newest;
  while (auto frame = frames_.try_pop()) {
    if (newest) count_not_shown();
    newest = std::move(*frame);
  }
  return newest;
}

void Pipeline::count_not_shown() noexcept {
  const uint64_t total = not_shown_.fetch_add(1, std::memory_order_relaxed) + 1;
  timeline_.sample(not_shown_counter_, static_cast<int64_t>(total), now_ns());
}

Frame Pipeline::next_frame() {
  auto frame = frames_.pop();
  return frame ? std::move(*frame) : Frame();
}

void Pipeline::end_early() {
  frames_.close();
}

PipelineStatus Pipeline::status() const {
  PipelineStatus s;
  // Read the counters from the last stage to the first, so that no stage reports more frames than its input.
  s.not_shown = not_shown_;
  static_cast<ProcessStatus&>(s) = status_.load();
  s.live = source_->live_status();
  if (s.live.live && s.live.reason.empty()) s.live.reason = source_problem();
  s.dropped = dropped_ + s.live.dropped, s.skipped = skipped_;
  s.decoded = decoded_, s.placeholders = placeholders_;
  s.decode_heartbeat = decode_heartbeat_ + source_->waits();
  s.queue_full = pictures_.size() >= pictures_.capacity();
  s.all_decoded = all_decoded_;
  const int64_t since_ns = waits_since_ns_;
  const bool waits = since_ns > 0 && now_ns() - since_ns >= kStalledNs;
  if (!s.live.live && waits && source_->data_wait_ns() >= kStalledNs) s.stalled_since_ns = since_ns;
  s.failed = failed_;
  if (const PlaybackSound* sound = options_.sound.get())
    s.sound = sound->state(), s.volume = sound->volume(), s.muted = sound->muted();
  return s;
}

std::vector<Notice> Pipeline::take_notices() {
  std::vector<Notice> all;
  for (const auto& sink : options_.sinks) append(all, sink->take_notices());
  if (options_.sound) append(all, options_.sound->take_notices());
  append(all, notices_.take());
  append(all, source_->take_notices());
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
