// How a pipeline's graph becomes a plan that runs: aside on the planner thread, or at once for a source whose
// pictures have changed.
#include <fmt/format.h>

#include "app/pipeline/pipeline.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

/// The graph to plan: while bypassed, the source is the output; while a node is looked at, that node.
GraphDesc effective(GraphDesc graph, bool bypass, const std::string& solo) {
  if (!solo.empty() && graph.find(solo)) graph.output = solo;
  if (bypass) graph.output = kSourceNode;
  return graph;
}

}  // namespace

// ---- planner thread --------------------------------------------------------------------------------------

void Pipeline::planner_loop() {
  while (auto request = plan_requests_.pop()) {
    if (request->old_plan) continue;  // freed here, with the request
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

/// The frame that the next change is seen in: while paused, the held one is made again.
int64_t Pipeline::next_frame_index() const {
  if (!current_picture_) return 0;
  return paused_ ? current_picture_.info.index : current_picture_.info.index + 1;
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
void Pipeline::swap_in_planned() {
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
    retire.old_plan =
        std::move(planned->prepared);  // the source changed meanwhile and was planned for at once
  } else {
    retire.old_plan = executor_->swap_in(std::move(planned->prepared));
    graph_ = std::move(planned->wanted);
    publish_graph();
    if (stands_still() && current_picture_) rerun_current();
  }
  settle(planned->requests, planned->problem);
  if (retire.old_plan) plan_requests_.push(retire);
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

void Pipeline::publish_graph() {
  auto view = std::make_shared<GraphView>();
  const Plan& plan = *executor_->plan();
  view->graph = graph_, view->wanted = wanted_;
  view->frame = next_frame_index();
  view->summary = describe(plan);
  view->version = ++graph_version_;
  for (const PlanNode& node : plan.nodes)
    view->planned.push_back(
        {node.id, node.filter_name, node.layout.output, node.automatic, node.scope.has_value()});
  const std::lock_guard lock(mutex_);
  graph_view_ = std::move(view);
}

}  // namespace lensd
