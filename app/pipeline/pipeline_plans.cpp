// Replaces the running plan. The planner thread prepares the new plan. If the picture format has changed, the
// process thread prepares it without waiting for the planner.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
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

/// Time between two attempts to use a graph or format for which there was not enough memory.
constexpr int64_t kRetryNs = 3'000'000'000;
constexpr const char* kWithoutGraph = "shown without the graph: ";

/// Call in a catch block. Returns the reason if there was not enough memory; otherwise an empty string.
std::string memory_problem() {
  try {
    try {
      throw;
    } catch (const MemoryError& e) {
      return e.what();
    }
  } catch (const std::bad_alloc&) {  // also if the text cannot be allocated
    return "out of memory";
  } catch (...) {
    return {};
  }
}

}  // namespace

// ---- planner thread -------------------------------------------------------------------------------------

void Pipeline::planner_loop() {
  while (auto request = plan_requests_.pop()) {
    if (request->old_plan) continue;  // the end of this iteration frees the plan
    PlanResult result;
    result.graph = std::move(request->graph);
    result.precision = request->extras.precision, result.colour = request->extras.colour;
    result.picture = request->picture, result.bypass = request->bypass;
    try {
      result.prepared =
          executor_->prepare(make_plan(effective(result.graph, request->bypass, request->solo),
                                       request->picture, options_.backend, registry_, request->extras));
    } catch (const MemoryError& e) {
      result.problem = e.what(), result.no_memory = true;
    } catch (const Error& e) {
      result.problem = e.what();
    } catch (const std::exception& e) {
      result.problem = fmt::format("the graph cannot be planned: {}", e.what());
      result.no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
    }
    if (!plan_results_.push(result)) return;
    wake();
  }
}

// ---- process thread -------------------------------------------------------------------------------------

/// Requests a plan for a graph and for the settings that change with it. If the graph is invalid, keeps the
/// running plan and reports the reason. Does nothing if the sender no longer waits for the command.
/// `views_only`: see PlanReasons.
void Pipeline::replan(const SetGraph& command, bool views_only) {
  if (command.claim && command.claim->given_up()) return;
  PlannedCommand planned{command.request, command.claim, command.controls, command.bypass.has_value()};
  if (const auto problems = validate(command.graph, registry_); !problems.empty()) {
    notice(true, problems.front());
    return report_outcomes({planned}, problems.front());
  }
  GraphDesc requested = resolved(command.graph, registry_);
  follow_rename(requested);
  requested_ = std::move(requested);
  if (command.precision) state_.precision = *command.precision;
  if (command.colour) state_.colour = *command.colour;
  if (command.bypass) state_.bypass = *command.bypass;
  unplanned_.push_back(std::move(planned));
  (views_only ? unplanned_reasons_.views : unplanned_reasons_.graph) = true;
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
                      .old_plan = nullptr};
  // The plan does not depend on `interlaced`, but captured CUDA graphs do.
  if (current_picture_) request.picture.interlaced = current_picture_.planes.info.interlaced;
  state_.planning = plan_requests_.push(request);
  planning_ = std::exchange(unplanned_, {});
  planning_reasons_ = std::exchange(unplanned_reasons_, {});
  plan_again_ = false;
}

/// Takes the planner's result: swaps in the new plan and lets the planner free the old one, or reports why
/// there is no new plan. Returns false if the planner has no result yet.
bool Pipeline::swap_in_planned() {
  auto result = plan_results_.try_pop();
  if (!result) return false;
  state_.planning = false;
  const auto live_changes = std::exchange(live_changes_, {});
  if (std::exchange(plan_obsolete_, false) || result->picture != executor_->plan()->picture) {
    // install() has already planned the requested graph, perhaps for this format again.
    result->problem.clear();
  } else if (result->prepared && !take(planning_)) {
    drop_requested();
  } else if (!result->prepared || !swap_in(*result)) {
    refuse(*result);
  } else {
    graph_ = std::move(result->graph);
    running_precision_ = result->precision, running_colour_ = result->colour;
    shows_source_ = running_bypass_ = result->bypass;
    if (!shows_source_) graph_waits_ = false, set_problem(graph_problem_, {});
    // This plan was requested before these changes. The next plan includes them, but this one processes
    // frames until then.
    for (const auto& changes : live_changes) apply_live(changes);
    publish_graph();
    graph_changed();
  }
  auto done = std::exchange(planning_, {});
  free_later(std::move(result->prepared));
  planning_reasons_ = {};
  request_plan();
  publish_status();  // before clients get the outcome
  finish_commands(done, result->problem);
  return true;
}

/// Swaps in the plan of a result, which then has the old plan. Returns false, with the reason in the result,
/// if there is not enough memory: the old plan stays in use.
bool Pipeline::swap_in(PlanResult& result) {
  try {
    executor_->swap_in(result.prepared);
    return true;
  } catch (...) {
    result.problem = memory_problem();
    if (result.problem.empty()) throw;
    result.no_memory = true;
    return false;
  }
}

/// Lets the planner free a plan, because that waits for the GPU. Frees it here if the queue is full.
void Pipeline::free_later(std::unique_ptr<PreparedPlan> plan) {
  PlanRequest request;
  request.old_plan = std::move(plan);
  if (request.old_plan) plan_requests_.try_push(request);
}

/// Prepares a plan on the calling thread and uses it from now on.
void Pipeline::install_plan(std::unique_ptr<Plan> plan) {
  std::unique_ptr<PreparedPlan> prepared = executor_->prepare(std::move(plan));
  executor_->swap_in(prepared);
  free_later(std::move(prepared));
}

/// Handles a refused plan for the current format: keeps the running one and reports the reason. If a live
/// source is shown without the graph for lack of memory, accepts the requested graph for the next try.
void Pipeline::refuse(PlanResult& result) {
  const bool first_try = !planning_.empty();
  if (source_info_.live && result.no_memory && shows_source_ && !result.bypass) {
    if (!take(planning_)) return drop_requested();
    wait_for_memory(result.problem);
    graph_ = std::move(result.graph);
    running_precision_ = result.precision, running_colour_ = result.colour, running_bypass_ = false;
    result.problem.clear();
    return;
  }
  if (!first_try && graph_waits_) {
    graph_waits_ = false;
    set_problem(graph_problem_, kWithoutGraph + result.problem);
  }
  notice(true, result.problem);
  keep_running_plan();
}

/// Returns to the running graph and settings after a refused plan, unless later changes of the graph wait for
/// a plan. Requests a new plan for views that were refused together with the graph.
void Pipeline::keep_running_plan() {
  const PlanReasons refused = planning_reasons_;
  if (sets_bypass(planning_) && !sets_bypass(unplanned_)) state_.bypass = running_bypass_;
  if (refused.graph && refused.views) unplanned_reasons_.views = plan_again_ = true;
  if (unplanned_reasons_.graph) return;
  requested_ = graph_;
  state_.precision = running_precision_, state_.colour = running_colour_;
  publish_graph();
}

/// Drops all requested changes, which share a plan, because the sender of one no longer waits for it.
void Pipeline::drop_requested() {
  constexpr const char* kLate = "a change of the graph could not be planned in time and was dropped";
  notice(true, kLate);
  if (sets_bypass(planning_) || sets_bypass(unplanned_)) state_.bypass = running_bypass_;
  report_outcomes(std::exchange(planning_, {}), kLate);
  report_outcomes(std::exchange(unplanned_, {}), kLate);
  plan_obsolete_ = state_.planning;
  unplanned_reasons_ = {.graph = false, .views = planning_reasons_.views || unplanned_reasons_.views};
  if (unplanned_reasons_.views) plan_again_ = true;
  requested_ = graph_;
  state_.precision = running_precision_, state_.colour = running_colour_;
  publish_graph();
}

/// Makes a plan for a new picture format on the calling thread, because no frame can be processed without it.
/// If the format does not fit the graph, throws Error(invalid_config), which ends the run. Live sources, and
/// paced files whose format has changed, are shown without the graph instead. So are live sources whose
/// format has changed if there is not enough memory for the graph. Throws MemoryError or std::bad_alloc if
/// the memory is not enough without the graph either.
void Pipeline::install(const PictureInfo& picture) {
  const bool waiting = !planning_.empty() || !unplanned_.empty();
  const bool in_time = take(planning_);
  if (!take(unplanned_) || !in_time) drop_requested();
  bool fits = true;
  try {
    install_plan(make_plan(effective(requested_, state_.bypass, solo_), picture, options_.backend, registry_,
                           extras()));
    graph_ = requested_;
    shows_source_ = state_.bypass, graph_waits_ = false;
    set_problem(graph_problem_, {});
  } catch (...) {
    fits = false;
    const std::string no_memory = memory_problem();
    if (no_memory.empty() || !source_info_.live || !executor_->plan()) {
      const std::string misfit = misfit_problem();
      const bool changed = options_.paced && executor_->plan();
      if (misfit.empty() || !(source_info_.live || changed)) throw;
      install_source(picture);
      set_problem(graph_problem_, kWithoutGraph + misfit);
    } else {
      install_source(picture);
      wait_for_memory(no_memory);
      graph_ = requested_;
    }
    notice(true, graph_problem_);
  }
  plan_obsolete_ = state_.planning;
  running_precision_ = state_.precision, running_colour_ = state_.colour, running_bypass_ = state_.bypass;
  publish_graph();
  if (fits)  // do not wait for the planner, which may hang
    for (std::vector<PlannedCommand>* commands : {&planning_, &unplanned_}) finish_commands(*commands, {});
  if (waiting) options_.on_change();
}

/// Installs a plan that shows the source without the graph.
void Pipeline::install_source(const PictureInfo& picture) {
  install_plan(make_plan(effective(requested_, true, {}), picture, options_.backend, registry_,
                         {.precision = state_.precision, .colour = state_.colour}));
  shows_source_ = true, graph_waits_ = false;
}

/// Call in a catch block. Returns the reason if the requested graph is valid but does not fit the format;
/// otherwise an empty string.
std::string Pipeline::misfit_problem() const {
  try {
    throw;
  } catch (const Error& e) {
    const bool misfit = e.code() == ExitCode::invalid_config && validate(requested_, registry_).empty();
    return misfit ? e.what() : std::string();
  } catch (...) {
    return {};
  }
}

/// Makes a plan if the picture format has changed. Returns false if the picture must be dropped: the source
/// is live, and there is not enough memory to show it. The format is tried again every few seconds.
bool Pipeline::follow_format(const PictureInfo& format) {
  if (format == executor_->plan()->picture) {
    if (refused_format_) set_problem(picture_problem_, {}), refused_format_.reset();
    return true;
  }
  const bool again = refused_format_ == format;
  if (again && now_ns() < retry_ns_) return false;
  try {
    if (!again)
      notice(false, fmt::format("the source is now {}×{} {}", format.extent.width, format.extent.height,
                                describe(format)));
    install(format);
    if (refused_format_) set_problem(picture_problem_, {}), refused_format_.reset();
    return true;
  } catch (...) {
    const std::string no_memory = memory_problem();
    if (no_memory.empty() || !source_info_.live) throw;
    refused_format_ = format, retry_ns_ = now_ns() + kRetryNs;
    set_problem(picture_problem_, no_memory);
    return false;
  }
}

/// Call before each frame. Requests the graph again if a live source is shown without it for lack of memory.
void Pipeline::retry_graph() {
  if (!graph_waits_ || state_.planning || state_.bypass || now_ns() < retry_ns_) return;
  retry_ns_ = now_ns() + kRetryNs;
  plan_again_ = true;
  request_plan();
}

void Pipeline::wait_for_memory(const std::string& problem) {
  graph_waits_ = true, retry_ns_ = now_ns() + kRetryNs;
  set_problem(graph_problem_, kWithoutGraph + problem);
}

/// Runs the plan on the current picture. Returns an empty frame if the source is live and there is not enough
/// memory. It then also resets the filters' state, because they may have missed a picture.
Frame Pipeline::run_current_picture(bool again) {
  try {
    Frame frame = executor_->run(current_picture_, again);
    if (std::exchange(run_failed_, false)) set_problem(picture_problem_, {});
    return frame;
  } catch (...) {
    const std::string no_memory = memory_problem();
    if (no_memory.empty() || !source_info_.live) throw;
    run_failed_ = true;
    executor_->reset_state();
    set_problem(picture_problem_, no_memory);
    if (!again) dropped_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
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

/// Sets graph_problem_ or picture_problem_, which source_problem() reads on any thread.
void Pipeline::set_problem(std::string& place, std::string problem) {
  const std::lock_guard lock(mutex_);
  place = std::move(problem);
}

// ---- any thread -----------------------------------------------------------------------------------------

/// Returns why the source is not shown as requested; an empty string if it is shown as requested.
std::string Pipeline::source_problem() const {
  const std::lock_guard lock(mutex_);
  return picture_problem_.empty() ? graph_problem_ : picture_problem_;
}

std::shared_ptr<const GraphView> Pipeline::graph() const {
  const std::lock_guard lock(mutex_);
  return graph_view_;
}

}  // namespace lensd
