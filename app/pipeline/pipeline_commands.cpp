// What commands do to a pipeline, on the process thread at a frame boundary.
#include <algorithm>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

bool changes_picture(const Command& command) {
  return std::holds_alternative<SetParam>(command) || std::holds_alternative<Batch>(command);
}

}  // namespace

void Pipeline::apply_commands() {
  swap_in_planned();
  bool any = false;
  while (auto posted = commands_.try_pop()) {
    apply(posted->command);
    applied_.store(posted->ticket, std::memory_order_release);
    any = true;
  }
  if (any) options_.on_change();
}

void Pipeline::apply(Command& command) {
  std::visit(Overloaded{
                 [this](const SetParam& c) { apply_changes({c}); },
                 [this](const SetEnabled& c) { apply_changes({c}); },
                 [this](const SetGraph& c) { apply_graph(c); },
                 [this](const Batch& c) { apply_changes(c.changes); },
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
                   } else if (current_picture_ && source_info_.seekable) {
                     // The frame before: from half a frame earlier than its expected time.
                     const int64_t duration = std::max<int64_t>(1, frame_duration_ns_.load());
                     request_seek(std::max<int64_t>(
                         0, current_picture_.info.pts_ns + c.frames * duration - duration / 2));
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
                   if (c.file && source_ended_ && !paused_) request_seek(0);
                 },
                 [this](const SetScopes& c) {
                   if (extras_.scopes == c.scopes) return;
                   extras_.scopes = c.scopes;
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
  if (stands_still() && current_picture_ && changes_picture(command)) rerun_current();
}

/// Makes all changes for the same frame, or none. If one of them needs a plan, the others wait for it.
void Pipeline::apply_changes(const std::vector<GraphChange>& changes) {
  GraphDesc wanted = wanted_;
  const ChangeResult result = lensd::apply_changes(wanted, changes, registry_);
  if (result.refused()) return notice(true, result.problem);
  const bool live = result.kind == ChangeResult::Kind::applied;
  if (live) apply_live(changes);
  if (!live || planning_) return replan_or_notice(std::move(wanted));
  wanted_ = std::move(wanted);
  publish_graph();
}

/// Changes the running plan at once, also while another one is being planned. Does nothing if a change
/// applies to that other plan only.
void Pipeline::apply_live(const std::vector<GraphChange>& changes) {
  GraphDesc graph = graph_;
  if (lensd::apply_changes(graph, changes, registry_).kind != ChangeResult::Kind::applied) return;
  graph_ = std::move(graph);
  for (const GraphChange& change : changes)
    if (const auto* set = std::get_if<SetParam>(&change)) executor_->plan()->set_param(*set);
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

}  // namespace lensd
