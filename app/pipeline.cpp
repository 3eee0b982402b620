#include "app/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/control/change.hpp"

namespace lensd {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

constexpr size_t kMaxNotices = 64;

/// The graph to plan: while bypassed, the source is the output; while a node is looked at, that node.
GraphDesc effective(GraphDesc graph, bool bypass, const std::string& solo) {
  if (!solo.empty() && graph.find(solo)) graph.output = solo;
  if (bypass) graph.output = kSourceNode;
  return graph;
}

bool changes_picture(const Command& command) {
  return std::holds_alternative<SetParam>(command) || std::holds_alternative<Batch>(command);
}

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
  for (const auto& sink : options_.sinks) sink->hurry();
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

// ---- decode thread --------------------------------------------------------------------------------------

void Pipeline::decode_loop() {
  while (!stopping() && !pictures_.closed()) {
    const uint32_t wanted = seek_serial_.load(std::memory_order_acquire);
    if (wanted != decode_serial_) {
      decode_serial_ = wanted;
      if (stopping()) return;
      source_->seek(seek_ns_.load(std::memory_order_relaxed));
    }
    if (!decode_one()) wait_for_seek_or_stop();
  }
}

/// False at the end of the stream.
bool Pipeline::decode_one() {
  decode_turns_.fetch_add(1, std::memory_order_relaxed);
  Decoded next;
  next.serial = decode_serial_;
  const int64_t begin = now_ns();
  const FrameOutcome outcome = source_->next(next.picture);
  if (outcome == FrameOutcome::again) return true;
  if (outcome == FrameOutcome::ok) {
    const int64_t end = now_ns();
    if (!source_info_.live) {  // there it is the time between pictures
      profiler_.record(decode_scope_, end - begin);
      timeline_.record(decode_track_, decode_label_, next.picture.info.index, begin, end);
    }
    next.picture.info.serial += decode_serial_;
    decoded_.fetch_add(1, std::memory_order_relaxed);
    if (next.picture.info.placeholder) placeholders_.fetch_add(1, std::memory_order_relaxed);
  } else {
    const std::string damage = source_->damage();
    const std::lock_guard lock(mutex_);
    damage_ = damage;
  }
  hand_over(next);
  timeline_.sample(waiting_counter_, static_cast<int64_t>(pictures_.size()), now_ns());
  return outcome == FrameOutcome::ok;
}

/// Files wait for room. A live source never does: what a display shows is always the newest picture, and a
/// recorder gets a few pictures' grace before the oldest goes.
void Pipeline::hand_over(Decoded& next) {
  if (!source_info_.live || !next.picture) {
    pictures_.push(next);
    return;
  }
  const size_t kept = options_.paced ? 0 : pictures_.capacity() - 1;
  uint64_t dropped = 0;
  while (pictures_.size() > kept && pictures_.try_pop()) ++dropped;
  while (!pictures_.try_push(next) && !pictures_.closed())
    if (pictures_.try_pop()) ++dropped;
  const bool paused = paused_now_.load(std::memory_order_relaxed);
  (paused ? skipped_ : dropped_).fetch_add(dropped, std::memory_order_relaxed);
}

void Pipeline::wait_for_seek_or_stop() {
  while (!stopping() && seek_serial_.load(std::memory_order_acquire) == decode_serial_)
    seek_serial_.wait(decode_serial_, std::memory_order_acquire);
}

// ---- planner thread --------------------------------------------------------------------------------------

void Pipeline::planner_loop() {
  while (auto request = plan_requests_.pop()) {
    if (request->retired) continue;  // freed here, with the request
    Planned planned;
    planned.wanted = std::move(request->wanted), planned.requests = std::move(request->requests);
    try {
      planned.prepared =
          executor_->prepare(make_plan(effective(planned.wanted, request->bypass, request->solo),
                                       request->picture, options_.backend, registry_, request->extras));
    } catch (const Error& e) {
      planned.problem = e.what();
    }
    if (!planned_.push(planned)) return;
    command_signal_.release();
    pictures_.wake();
  }
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

void Pipeline::apply_commands() {
  adopt_planned();
  bool any = false;
  while (auto posted = commands_.try_pop()) {
    apply(posted->command);
    applied_.store(posted->ticket, std::memory_order_release);
    any = true;
  }
  if (any) options_.on_change();
}

void Pipeline::apply(Command& command) {
  std::visit(
      Overloaded{
          [this](const SetParam& c) { apply_param(c); },
          [this](const SetEnabled& c) {
            GraphDesc graph = wanted_;
            bool needs_plan = false;
            const std::string problem = change_graph(graph, c, registry_, needs_plan);
            if (!problem.empty()) return notice(true, problem);
            replan_or_notice(std::move(graph));
          },
          [this](const SetGraph& c) { apply_graph(c); },
          [this](const Batch& c) { apply_batch(c); },
          [this](const Bypass& c) {
            if (bypass_ == c.on) return;
            bypass_ = c.on, bypass_now_ = c.on;
            replan_or_notice(wanted_);
          },
          [this](const Solo& c) {
            if (solo_ == c.node) return;
            solo_ = c.node;
            replan_or_notice(wanted_);
          },
          [this](const EditMark& c) { edit_mark_.store(c.mark, std::memory_order_release); },
          [this](const Pause& c) {
            paused_ = c.paused;
            paused_now_ = c.paused;
            clock_set_ = false;
            timed_from_ns_ = now_ns();
            if (!c.paused && source_ended_) request_seek(0);
          },
          [this](const Step& c) {
            paused_ = true;
            paused_now_ = true;
            clock_set_ = false;
            if (c.frames > 0) {
              step_frames_ += c.frames;
            } else if (held_ && source_info_.seekable) {
              // The frame before: from half a frame earlier than its expected time.
              const int64_t duration = std::max<int64_t>(1, frame_duration_ns_.load());
              request_seek(std::max<int64_t>(0, held_.info.pts_ns + c.frames * duration - duration / 2));
            }
          },
          [this](const Seek& c) {
            request_seek(c.relative ? position_ns_.load() + c.position_ns : c.position_ns);
          },
          [this](const SetSpeed& c) {
            speed_ = std::clamp(c.speed, 0.01, 100.0);
            speed_now_ = speed_;
            clock_set_ = false;
          },
          [this](const SetLoop& c) {
            loop_file_ = c.file, loop_a_ns_ = c.a_ns, loop_b_ns_ = c.b_ns;
            loop_now_ = c.file;
          },
          [this](const SetTaps& c) {
            if (extras_.taps == c.taps) return;
            extras_.taps = c.taps;
            replan_or_notice(wanted_);
          },
          [this](const SetViews& c) {
            if (extras_.views == c.nodes) return;
            extras_.views = c.nodes;
            replan_or_notice(wanted_);
          },
          [](const Snapshot&) {},  // the viewer takes snapshots from the frame it shows
          [this](const StartRecord& c) {
            for (const auto& sink : options_.sinks) sink->start(c);
            if (options_.sinks.empty()) notice(true, "this run cannot record");
          },
          [this](const StopRecord&) {
            for (const auto& sink : options_.sinks) sink->stop();
          },
          [](const Quit&) {},
      },
      command);
  if (stands_still() && held_ && changes_picture(command)) run_held();
}

/// A parameter of the running plan changes at once; a plan being made takes it over when it is adopted.
void Pipeline::apply_param(const SetParam& set) {
  Plan* plan = executor_->plan();
  const ParamResult result = set_param(*plan, set.node, set.param, set.value);
  if (result.kind == ParamResult::Kind::refused && !(planning_ && wanted_.find(set.node)))
    return notice(true, result.problem);
  graph_.nodes = plan->graph.nodes;
  GraphDesc wanted = wanted_;
  if (NodeDesc* node = wanted.find(set.node)) {
    std::erase_if(node->params, [&](const auto& p) { return p.first == set.param; });
    node->params.emplace_back(set.param, set.value);
  }
  if (planning_ || result.kind == ParamResult::Kind::needs_plan) {
    replan_or_notice(std::move(wanted));
  } else {
    wanted_ = std::move(wanted);
    publish_graph();
  }
}

/// All changes with one frame, or none: live parameters alone are set at once; where one of the changes needs
/// a plan, the others wait for it.
void Pipeline::apply_batch(const Batch& batch) {
  GraphDesc graph = wanted_;
  bool plan = planning_;
  for (const auto& change : batch.changes) {
    const std::string problem = change_graph(graph, change, registry_, plan);
    if (!problem.empty()) return notice(true, problem);
  }
  if (plan) return replan_or_notice(std::move(graph));
  for (const auto& change : batch.changes)
    if (const auto* set = std::get_if<SetParam>(&change)) apply_param(*set);
}

void Pipeline::apply_graph(const SetGraph& set) {
  if (set.request) requests_.push_back(set.request);
  if (const std::string problem = replan(set.graph); !problem.empty()) {
    notice(true, problem);
    if (set.request) {
      requests_.pop_back();
      settle({set.request}, problem);
    }
  }
}

/// Has `graph` planned aside. When it cannot be, the old plan stays and the reason is given back.
std::string Pipeline::replan(GraphDesc graph) {
  if (const auto problems = validate(graph, registry_); !problems.empty()) return problems.front();
  wanted_ = resolved(graph, registry_);
  plan_again_ = true;
  request_plan();
  publish_graph();
  return {};
}

void Pipeline::replan_or_notice(GraphDesc graph) {
  if (const std::string problem = replan(std::move(graph)); !problem.empty()) notice(true, problem);
}

/// Tells those who asked what became of their graphs.
void Pipeline::settle(const std::vector<uint64_t>& requests, const std::string& problem) {
  if (requests.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t request : requests) outcomes_.push_back({request, problem, next_frame_index()});
  }
  options_.on_change();
}

/// The frame that the next change is seen in: while paused, the held one is made again.
int64_t Pipeline::next_frame_index() const {
  if (!held_) return 0;
  return paused_ ? held_.info.index : held_.info.index + 1;
}

/// Sends the wanted graph to the planner, unless it is at work: then once it has finished.
void Pipeline::request_plan() {
  if (planning_ || !plan_again_) return;
  PlanRequest request;
  request.wanted = wanted_, request.picture = executor_->plan()->picture, request.bypass = bypass_;
  request.solo = solo_;
  request.extras = extras_, request.requests = std::exchange(requests_, {});
  planning_ = plan_requests_.push(request);
  planning_now_.store(planning_, std::memory_order_release);
  plan_again_ = false;
}

/// Takes a plan that is ready into use; the one before it is freed by the planner.
void Pipeline::adopt_planned() {
  auto planned = planned_.try_pop();
  if (!planned) return;
  planning_ = false;
  PlanRequest retire;
  if (!planned->prepared) {
    notice(true, planned->problem);
    if (!plan_again_) {
      wanted_ = graph_;
      publish_graph();
    }
  } else if (planned->prepared->plan->picture != executor_->plan()->picture) {
    retire.retired =
        std::move(planned->prepared);  // the source changed meanwhile and was planned for at once
  } else {
    retire.retired = executor_->adopt(std::move(planned->prepared));
    graph_ = std::move(planned->wanted);
    publish_graph();
    if (stands_still() && held_) run_held();
  }
  settle(planned->requests, planned->problem);
  if (retire.retired) plan_requests_.push(retire);
  request_plan();
  planning_now_.store(planning_, std::memory_order_release);
  options_.on_change();
}

/// Plans for a picture format on this thread: no frame can be made before it is done.
void Pipeline::install_now(const PictureInfo& picture) {
  executor_->install(
      make_plan(effective(wanted_, bypass_, solo_), picture, options_.backend, registry_, extras_));
  graph_ = wanted_;
  publish_graph();
}

/// As install_now(), but a live source that comes back with a size that the graph does not fit, or that is
/// not there yet, is shown without the graph instead of ending the run.
void Pipeline::install_for_live(const PictureInfo& picture) {
  if (const auto problems = validate(wanted_, registry_); !problems.empty()) return install_now(picture);
  try {
    install_now(picture);
  } catch (const Error& e) {
    if (e.code() != ExitCode::invalid_config) throw;
    notice(true, fmt::format("shown without the graph: {}", e.what()));
    executor_->install(make_plan(effective(wanted_, true, ""), picture, options_.backend, registry_, {}));
    publish_graph();
  }
}

void Pipeline::process(Picture picture) {
  if (picture.planes.info != executor_->plan()->picture) {
    notice(false, fmt::format("the source is now {}×{} {}", picture.planes.info.extent.width,
                              picture.planes.info.extent.height, describe(picture.planes.info)));
    source_info_.live ? install_for_live(picture.planes.info) : install_now(picture.planes.info);
  }
  // A live source came back or went: what filters remember is of another picture.
  if (source_info_.live && held_ && held_.info.serial != picture.info.serial) executor_->reset_state();
  held_ = std::move(picture);
  held_.info.taken_ns = now_ns();
  timeline_.sample(waiting_counter_, static_cast<int64_t>(pictures_.size()), held_.info.taken_ns);
  if (held_.info.duration_ns > 0) frame_duration_ns_.store(held_.info.duration_ns, std::memory_order_relaxed);
  Frame frame = executor_->run(held_);
  if (!frame) return;
  processed_.fetch_add(1, std::memory_order_relaxed);
  timeline_.record(process_track_, run_label_, held_.info.index, held_.info.taken_ns,
                   frame.info.processed_ns);
  if (options_.paced && !paused_ && !show_one_) pace(frame.info);
  frame_index_.store(held_.info.index, std::memory_order_relaxed);
  position_ns_.store(held_.info.pts_ns, std::memory_order_relaxed);
  show_one_ = false;
  if (step_frames_ > 0) --step_frames_;
  const bool last =
      options_.max_frames > 0 && processed_.load() >= static_cast<uint64_t>(options_.max_frames);
  if (options_.sinks.empty()) {
    publish(std::move(frame));
  } else {
    publish(frame.share());  // the display first: a sink may wait
    for (const auto& sink : options_.sinks) sink->take(frame, held_);
    frame.reset();
  }
  if (last)
    end_of_stream();
  else if (loop_b_ns_ >= 0 && loop_a_ns_ >= 0 && held_.info.pts_ns >= loop_b_ns_)
    request_seek(loop_a_ns_);
}

/// The held picture again, with the parameters as they are now: tuning while paused.
void Pipeline::run_held() {
  if (held_.planes.info != executor_->plan()->picture) return;
  Frame frame = executor_->run(held_, true);
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

void Pipeline::publish_graph() {
  auto view = std::make_shared<GraphView>();
  const Plan& plan = *executor_->plan();
  view->graph = graph_, view->wanted = wanted_;
  view->frame = next_frame_index();
  view->summary = describe(plan);
  view->version = ++graph_version_;
  for (const PlanNode& node : plan.nodes)
    view->planned.push_back(
        {node.id, node.filter_name, node.layout.output, node.automatic, node.tap.has_value()});
  const std::lock_guard lock(mutex_);
  graph_view_ = std::move(view);
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

std::string Pipeline::source_damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

}  // namespace lensd
