// Replaces the running plan. The planner thread prepares the new plan. If the picture format has changed, the
// process thread prepares it without waiting for the planner.
#include <fmt/format.h>

#include "app/pipeline/pipeline.hpp"
#include "core/base/error.hpp"
#include "core/device/device_memory_error.hpp"

namespace lensd {
namespace {

/// Returns the graph to plan. Its output is the source if bypassed, else the soloed node if there is one.
GraphDesc effective(GraphDesc graph, bool bypass, const std::string& solo) {
  if (!solo.empty() && graph.find(solo)) graph.output = solo;
  if (bypass) graph.output = kSourceNode;
  return graph;
}

}  // namespace

// ---- planner thread -------------------------------------------------------------------------------------

void Pipeline::planner_loop() {
  while (auto request = plan_requests_.pop()) {
    if (request->old_plan) continue;  // the end of this iteration frees the plan
    PlanResult result;
    result.graph = std::move(request->graph), result.requests = std::move(request->requests);
    try {
      result.prepared =
          executor_->prepare(make_plan(effective(result.graph, request->bypass, request->solo),
                                       request->picture, options_.backend, registry_, request->extras));
    } catch (const Error& e) {
      result.problem = e.what();
    } catch (const std::exception& e) {  // out of memory, for example
      result.problem = fmt::format("the graph cannot be planned: {}", e.what());
    }
    if (!plan_results_.push(result)) return;
    wake();
  }
}

// ---- process thread -------------------------------------------------------------------------------------

/// Requests a plan for `graph`. If `graph` is invalid, keeps the running plan and reports the reason.
void Pipeline::replan(GraphDesc graph, uint64_t request) {
  if (const auto problems = validate(graph, registry_); !problems.empty()) {
    notice(true, problems.front());
    if (request) report_outcomes({request}, problems.front());
    return;
  }
  requested_ = resolved(graph, registry_);
  if (request) requests_.push_back(request);
  plan_again_ = true;
  request_plan();
  publish_graph();
}

PlanExtras Pipeline::extras() const {
  PlanExtras extras = extras_;
  extras.precision = state_.precision, extras.colour = state_.colour;
  return extras;
}

/// Sends the requested graph to the planner. Does nothing while another plan is in preparation.
void Pipeline::request_plan() {
  if (state_.planning || !plan_again_) return;
  PlanRequest request{.graph = requested_,
                      .picture = executor_->plan()->picture,
                      .extras = extras(),
                      .bypass = state_.bypass,
                      .solo = solo_,
                      .requests = std::exchange(requests_, {}),
                      .old_plan = nullptr};
  // Captured graphs depend on it, although the plan does not.
  if (current_picture_) request.picture.interlaced = current_picture_.planes.info.interlaced;
  state_.planning = plan_requests_.push(request);
  plan_again_ = false;
}

/// Takes the planner's result: swaps in the new plan and lets the planner free the old one, or reports why
/// there is no new plan. Returns false if the planner has no result yet.
bool Pipeline::swap_in_planned() {
  auto result = plan_results_.try_pop();
  if (!result) return false;
  state_.planning = false;
  PlanRequest free_request;
  if (!result->prepared) {
    notice(true, result->problem);
    if (!plan_again_) {
      requested_ = graph_;
      publish_graph();
    }
  } else if (result->prepared->plan->picture != executor_->plan()->picture) {
    free_request.old_plan = std::move(result->prepared);  // obsolete: install() has changed the format
  } else {
    free_request.old_plan = executor_->swap_in(std::move(result->prepared));
    graph_ = std::move(result->graph);
    publish_graph();
    graph_changed();
  }
  report_outcomes(result->requests, result->problem);
  if (free_request.old_plan) plan_requests_.push(free_request);
  request_plan();
  return true;
}

/// Makes a plan for a new picture format on the calling thread, because no frame can be processed without it.
/// The planner frees the old plan.
/// If the format does not fit the graph, throws Error(invalid_config), which ends the run. Live sources, and
/// paced files whose format has changed, are shown without the graph instead.
void Pipeline::install(const PictureInfo& picture) {
  const auto swap_in = [this](std::unique_ptr<Plan> plan) {
    PlanRequest free_request;
    free_request.old_plan = executor_->swap_in(executor_->prepare(std::move(plan)));
    if (free_request.old_plan) plan_requests_.push(free_request);
  };
  try {
    swap_in(make_plan(effective(requested_, state_.bypass, solo_), picture, options_.backend, registry_,
                      extras()));
    graph_ = requested_;
  } catch (const Error& e) {
    const bool misfit = e.code() == ExitCode::invalid_config && validate(requested_, registry_).empty();
    const bool changed = options_.paced && executor_->plan();
    if (!misfit || !(source_info_.live || changed)) throw;
    notice(true, fmt::format("shown without the graph: {}", e.what()));
    swap_in(make_plan(effective(requested_, true, {}), picture, options_.backend, registry_,
                      {.precision = state_.precision, .colour = state_.colour}));
  }
  publish_graph();
}

/// Creates the executor and installs the first plan. If GPU memory is too small for them, uses the CPU
/// backend, provided that the options allow it and the decoder's pictures are in host memory.
void Pipeline::install_first() {
  const auto make = [this] {
    executor_ = make_executor(options_.backend, options_.executor, profiler_, timeline_);
    install(source_info_.picture);
  };
  try {
    return make();
  } catch (const DeviceMemoryError& e) {
    if (!options_.cpu_if_memory_short || source_info_.on_gpu) throw;
    backend_problem_ = e.problem();
  }
  notices_.add(true, "running on the CPU: " + backend_problem_);
  options_.backend = Backend::cpu;
  make();
}

void Pipeline::report_outcomes(const std::vector<uint64_t>& requests, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  for (const uint64_t request : requests) outcomes_.push_back({request, problem, next_frame_index()});
}

/// Returns the index of the first frame that shows a change made now: the current frame while paused, else
/// the next one.
int64_t Pipeline::next_frame_index() const {
  if (!current_picture_) return 0;
  return current_picture_.info.index + (state_.paused ? 0 : 1);
}

void Pipeline::publish_graph() {
  auto view = std::make_shared<GraphView>();
  const Plan& plan = *executor_->plan();
  state_.bits = plan.precision, state_.source_colour = plan.picture.colour;
  state_.scope_matrix = scope_matrix(plan.picture);
  view->graph = graph_, view->requested = requested_;
  view->frame = next_frame_index();
  view->picture = plan.picture;
  view->summary = describe(plan), view->device_bytes = executor_->device_bytes();
  view->version = ++graph_version_;
  for (const PlanNode& node : plan.nodes)
    view->planned.push_back(
        {node.id, node.filter_name, node.layout.output, node.automatic, node.scope.has_value()});
  const std::lock_guard lock(mutex_);
  graph_view_ = std::move(view);
}

// ---- any thread -----------------------------------------------------------------------------------------

std::shared_ptr<const GraphView> Pipeline::graph() const {
  const std::lock_guard lock(mutex_);
  return graph_view_;
}

}  // namespace lensd
