// Applies commands to a pipeline, on the process thread at a frame boundary.
#include <algorithm>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/graph/edit_shape.hpp"

namespace lensd {
namespace {

constexpr int64_t kMaxStepsBack = 1'000'000;
/// The latest target of a seek: the largest plausible() time.
constexpr int64_t kLastSeekNs = INT64_MAX / 4 - 1;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // for Clang before 17

}  // namespace

void Pipeline::apply_commands() {
  ++state_.process_heartbeat;
  bool changed = swap_in_planned();
  while (auto queued = commands_.try_pop()) {
    apply(queued->command);
    state_.applied = queued->ticket;
    changed = true;
  }
  publish_status();
  if (changed) options_.on_change();
}

void Pipeline::apply(const Command& command) {
  const auto replan_if_changed = [this](auto& current, const auto& value, bool views_only) {
    if (current == value) return;
    current = value;
    replan(SetGraph{requested_}, views_only);
  };
  std::visit(Overloaded{
                 [this](const SetParam& c) { apply_changes(Batch{.changes = {c}}); },
                 [this](const SetEnabled& c) { apply_changes(Batch{.changes = {c}}); },
                 [this](const Batch& c) { apply_changes(c); },
                 [this](const SetGraph& c) { replan(c); },
                 [&](const Bypass& c) { replan_if_changed(state_.bypass, c.on, true); },
                 [&](const Solo& c) { replan_if_changed(solo_, c.node, true); },
                 [&](const SetPrecision& c) { replan_if_changed(state_.precision, c.precision, false); },
                 [&](const SetColour& c) { replan_if_changed(state_.colour, c.settings, false); },
                 [&](const SetScopes& c) { replan_if_changed(extras_.scopes, c.scopes, true); },
                 [&](const SetViews& c) { replan_if_changed(extras_.views, c.nodes, true); },
                 [this](const EditMark& c) { state_.edit_mark = c.mark; },
                 [this](const Pause& c) { apply_pause(c.paused); },
                 [this](const Step& c) { apply_step(c.frames); },
                 [this](const Seek& c) {
                   // Relative seeks add up until the picture of the last seek is processed.
                   const int64_t from = c.relative ? seek_target_ns_.value_or(state_.position_ns) : 0;
                   request_seek(from + c.position_ns);
                 },
                 [this](const SetSpeed& c) {
                   state_.speed = std::clamp(c.speed, kMinSpeed, kMaxSpeed);
                   clock_.set_speed(state_.speed);
                   if (!source_info_.live) sound_.set_speed(state_.speed, state_.position_ns);
                 },
                 [this](const SetVolume& c) {
                   if (options_.sound) options_.sound->set_volume(c.percent);
                 },
                 [this](const SetMute& c) {
                   if (options_.sound) options_.sound->set_muted(c.on);
                 },
                 [this](const SetLoop& c) {
                   if (c.a_ns != state_.loop_a_ns || c.b_ns != state_.loop_b_ns) loop_armed_ = true;
                   state_.loop_a_ns = c.a_ns, state_.loop_b_ns = c.b_ns;
                   set_file_loop(c.file);
                   if (loops_a_b() && state_.ended && !state_.paused) request_seek(state_.loop_a_ns);
                 },
                 [this](const SetFileLoop& c) { set_file_loop(c.on); },
                 [this](const StartRecord& c) {
                   for (const auto& sink : options_.sinks) sink->start(c);
                   if (options_.sinks.empty()) notice(true, "cannot record: this run has no recorder");
                   record_shown();
                 },
                 [this](const StopRecord&) {
                   end_recorded_picture();
                   for (const auto& sink : options_.sinks) sink->stop();
                 },
                 // set_source_controls() has already applied these.
                 [](const SetSourceControls&) {},
                 [](const ResetSourceControls&) {},
             },
             command);
}

/// Applies all changes to the same frame, or none. If one needs a new plan, all take effect with that plan.
/// Does nothing if the sender no longer waits for the command.
void Pipeline::apply_changes(const Batch& batch) {
  if (batch.claim && batch.claim->given_up()) return;
  GraphDesc requested = requested_;
  clear_places(requested);
  const ChangeResult result = lensd::apply_changes(requested, batch.changes, registry_);
  const bool new_settings = (batch.precision && *batch.precision != state_.precision) ||
                            (batch.colour && *batch.colour != state_.colour);
  const bool new_bypass = batch.bypass && *batch.bypass != state_.bypass;
  const bool live = result.kind == ChangeResult::Kind::applied && !new_settings && !new_bypass;
  const bool only_bypass = batch.bypass && batch.changes.empty() && !batch.precision && !batch.colour;
  if (result.refused()) {
    notice(true, result.problem);
  } else {
    if (live && batch.claim && !batch.claim->take()) return;
    if (live && !batch.changes.empty()) {
      if (state_.planning) live_changes_.push_back(batch.changes);
      if (apply_live(batch.changes)) graph_changed();
    }
    if (!live || state_.planning)
      return replan({.graph = std::move(requested),
                     .request = batch.request,
                     .precision = batch.precision,
                     .colour = batch.colour,
                     .bypass = batch.bypass,
                     .claim = batch.claim},
                    only_bypass);
    if (!batch.changes.empty()) requested_ = std::move(requested), publish_graph();
  }
  if (batch.request) report_outcomes({PlannedCommand{.request = batch.request}}, result.problem);
}

/// Lets the views, the scopes and the solo of a renamed node follow it. If they came with the sender's next
/// commands only, the frames until the plan after this one would lack the node's picture.
void Pipeline::follow_rename(const GraphDesc& requested) {
  const auto renamed = renamed_node(requested_, requested, registry_);
  if (!renamed) return;
  const auto& [from, to] = *renamed;
  std::ranges::replace(extras_.views, from, to);
  for (ScopeRequest& scope : extras_.scopes)
    for (std::string* node : {&scope.node, &scope.other})
      if (*node == from) *node = to;
  if (solo_ == from) solo_ = to;
}

/// Changes the running plan at once, even while another plan is in preparation. Returns false and changes
/// nothing if the changes do not fit the running graph: they then belong to the graph that is being planned.
bool Pipeline::apply_live(const std::vector<GraphChange>& changes) {
  GraphDesc graph = graph_;
  if (lensd::apply_changes(graph, changes, registry_).kind != ChangeResult::Kind::applied) return false;
  graph_ = std::move(graph);
  for (const GraphChange& change : changes)
    if (const auto* set = std::get_if<SetParam>(&change)) executor_->plan()->set_param(*set);
  return true;
}

/// Applies a command for the source's controls; ignores other commands. Called when the command is posted,
/// because it does not belong to a frame, and because a client may read the value back at once.
void Pipeline::set_source_controls(const Command& command) {
  std::string problem;
  if (const auto* set = std::get_if<SetSourceControls>(&command))
    problem =
        set->skip_refused ? source_->set_allowed_controls(set->values) : source_->set_controls(set->values);
  else if (const auto* reset = std::get_if<ResetSourceControls>(&command))
    problem = source_->reset_controls(reset->names);
  if (!problem.empty()) notices_.add(true, std::move(problem));
}

void Pipeline::set_file_loop(bool on) {
  state_.loop_file = on;
  if (loops_file() && state_.ended && !state_.paused) request_seek(0);
}

void Pipeline::apply_pause(bool paused) {
  state_.paused = paused;
  // While paused, still show the picture of a pending seek, or the first picture.
  if (paused && (seek_target_ns_ || !current_picture_)) show_one_ = true;
  clock_.restart();
  sound_.stop(state_.position_ns, !paused);
  timed_from_ns_ = now_ns();
  if (!paused && state_.ended) request_seek(0);
}

void Pipeline::apply_step(int frames) {
  apply_pause(true);
  if (frames > 0) {
    step_frames_ += frames;
  } else if (current_picture_ && source_info_.seekable) {
    // Backward steps add up until the picture of the last one is processed.
    const int64_t back = int64_t{seek_target_ns_ ? seek_back_.load(std::memory_order_relaxed) : 0} - frames;
    // While playing, the current picture is not shown yet.
    request_seek(seek_target_ns_.value_or(shown_ns_),
                 static_cast<int>(std::min<int64_t>(back, kMaxStepsBack)));
  }
}

/// Requests a seek from the decode thread. Older pictures stay in the queue until process_loop() drops them.
/// Emptying the queue here could also drop pictures that the decode thread adds after the seek.
void Pipeline::request_seek(int64_t position_ns, int back) {
  if (!source_info_.seekable) return notice(true, "this source cannot seek");
  // Pictures may follow the announced end, for example in a growing file. A backward step therefore keeps its
  // position. Other seeks are limited to the end or, if that is later, to the farthest picture so far.
  const bool limited = source_info_.duration_ns > 0 && back == 0;
  const int64_t last = limited ? std::max(source_info_.duration_ns - 1, farthest_ns_) : kLastSeekNs;
  seek_target_ns_ = std::clamp<int64_t>(position_ns, 0, std::min(last, kLastSeekNs));
  seek_ns_.store(*seek_target_ns_, std::memory_order_relaxed);
  seek_back_.store(back, std::memory_order_relaxed);
  seek_serial_.fetch_add(1, std::memory_order_release);
  seek_serial_.notify_all();
  executor_->reset_state();
  clock_.restart();
  sound_.stop(seek_ns_.load(std::memory_order_relaxed), !state_.paused);
  show_one_ = state_.paused, step_frames_ = 0, state_.ended = false;
  loop_armed_ = *seek_target_ns_ <= state_.loop_b_ns;
}

/// Reports the outcome of commands and forgets them. If they have taken effect, sets their controls.
/// Call on_change() afterwards.
void Pipeline::finish_commands(std::vector<PlannedCommand>& commands, const std::string& problem) {
  const auto done = std::exchange(commands, {});
  if (done.empty()) return;
  for (const PlannedCommand& command : done)
    if (problem.empty() && !command.controls.empty() && (!command.claim || command.claim->take()))
      set_source_controls(SetSourceControls{command.controls, true});
  report_outcomes(done, problem);
}

/// Returns true if one of the commands sets the bypass and waits for its outcome.
bool Pipeline::sets_bypass(const std::vector<PlannedCommand>& commands) {
  return std::ranges::any_of(commands, &PlannedCommand::bypass);
}

/// Marks the commands as taking effect. Returns false if one must not, because its sender no longer waits.
bool Pipeline::take(const std::vector<PlannedCommand>& commands) {
  bool all = true;
  for (const PlannedCommand& command : commands) all = (!command.claim || command.claim->take()) && all;
  return all;
}

/// Returns the index of the first frame that shows a change made now: the current frame while paused, else
/// the next one.
int64_t Pipeline::next_frame_index() const {
  if (!current_picture_) return 0;
  return current_picture_.info.index + (state_.paused ? 0 : 1);
}

void Pipeline::report_outcomes(const std::vector<PlannedCommand>& commands, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  for (const PlannedCommand& command : commands)
    if (command.request) outcomes_.push_back({command.request, problem, next_frame_index()});
}

}  // namespace lensd
