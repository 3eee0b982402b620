// Changes of a session's graph: values and whole graphs, and the requests that wait for their plans.
//
//   change_graph() ── Batch ──▶ Pipeline ── PlanOutcome ──▶ pump() ──▶ Reply
//   plan_edit() ── SetGraph ──▶ Pipeline ── PlanOutcome ──▶ pump() ──▶ the thread of transactions
#include <future>
#include <utility>

#include "app/serve/session.hpp"
#include "core/base/clock.hpp"
#include "core/control/properties.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

constexpr const char* kNoOutcome = "the planner does not respond; the change may have taken effect";

/// Returns a key that is the same for changes of the same value.
std::string key_of(const GraphChange& change) {
  const auto* set = std::get_if<SetParam>(&change);
  return set ? set->node + '\n' + set->param : std::get<SetEnabled>(change).node;
}

}  // namespace

// ---- values ---------------------------------------------------------------------------------------------

bool Session::post(Command command) {
  const std::lock_guard lock(mutex_);
  return !stopped_ && pipeline_ && pipeline_->try_post(std::move(command)) != 0;
}

/// Queues changes of the graph and its settings. If they may need a new plan, sets `waits` and keeps
/// `planned` for its outcome.
Response Session::post_changes(Batch batch, OutcomeCallback planned, bool& waits) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || !pipeline_) return not_posted();
  predict();
  const ChangeResult result = apply_changes(predicted_, batch.changes, registry_);
  if (result.refused()) return {Status::refused, result.problem};
  // Whether settings are new is known only when the earlier commands have been applied.
  waits = result.kind == ChangeResult::Kind::needs_plan || batch.precision || batch.colour || batch.bypass;
  if (waits) batch.request = next_request_++, batch.claim = std::make_shared<CommandClaim>();
  const int64_t deadline_ns = now_ns() + options_.plan_timeout.count();
  if (waits) requests_[batch.request] = {std::move(planned), deadline_ns, batch.claim};
  const uint64_t ticket = pipeline_->try_post(batch);
  if (!ticket) {
    waits = false;
    requests_.erase(batch.request), predicted_from_.reset();
    return not_posted();
  }
  if (waits) requests_[batch.request].ticket = ticket;
  for (GraphChange& change : batch.changes) {
    std::string key = key_of(change);
    pending_.insert_or_assign(std::move(key), Pending{ticket, std::move(change)});
  }
  return {};
}

void Session::change_graph(Batch batch, Reply reply) {
  const auto shared = std::make_shared<Reply>(std::move(reply));
  bool waits = false;
  Response response = post_changes(
      std::move(batch),
      [shared](const PlanOutcome& outcome) {
        (*shared)(outcome.problem.empty() ? Response{} : Response{Status::refused, outcome.problem});
      },
      waits);
  if (!waits) (*shared)(std::move(response));
}

GraphState Session::graph() const {
  const std::lock_guard lock(mutex_);
  return current_graph();
}

/// Call with mutex_ locked.
GraphState Session::current_graph() const {
  GraphState state;
  state.version = earlier_versions_;
  if (!pipeline_) {
    state.graph = options_.graph;
    return state;
  }
  const auto view = predict();
  state.version += view->version, state.frame = view->frame, state.summary = view->summary;
  state.graph = predicted_;
  return state;
}

/// Updates predicted_ and returns the pipeline's view. Applies at most one change per value, however many
/// were posted. Call with mutex_ locked.
std::shared_ptr<const GraphView> Session::predict() const {
  // Read the last applied ticket before the graph, so that the graph contains every change up to this ticket.
  const uint64_t applied = pipeline_->status().applied;
  auto view = pipeline_->graph();
  const size_t done = std::erase_if(pending_, [&](const auto& p) { return p.second.ticket <= applied; });
  if (view == predicted_from_ && done == 0) return view;
  predicted_ = view->requested;
  for (const auto& [key, pending] : pending_) apply_change(predicted_, pending.change, registry_);
  predicted_from_ = view;
  return view;
}

// ---- whole graphs, on the thread of transactions --------------------------------------------------------

Response Session::plan(const SetGraph& change) {
  const auto edit = [&change](GraphDesc& current) -> Response {
    current = change.graph;
    return {};
  };
  return plan_edit(edit, change);
}

/// Applies `edit` to a copy of the current graph and queues the result as the graph of `change`. Sets
/// `posted` if it was queued. Call with mutex_ locked, so that no other change is queued in between.
Response Session::post_edit(const GraphEdit& edit, SetGraph change, bool& posted) {
  if (!pipeline_ || stopped_) return not_posted();
  change.graph = current_graph().graph;
  clear_places(change.graph);
  Response response = edit(change.graph);
  if (!response.ok()) return response;
  if (const auto problems = validate(change.graph, registry_); !problems.empty())
    return {Status::refused, problems.front()};
  posted = pipeline_->try_post(std::move(change)) != 0;
  return posted ? response : not_posted();
}

/// Applies `edit` to the current graph, together with the settings of `change`. Waits until the result runs
/// or is refused. Returns an error after SessionOptions::plan_timeout; the change then never takes effect. If
/// it has taken effect by then, but its outcome does not follow within a second timeout, returns an error,
/// too.
Response Session::plan_edit(const GraphEdit& edit, SetGraph change) {
  const auto promise = std::make_shared<std::promise<PlanOutcome>>();
  std::future<PlanOutcome> future = promise->get_future();
  const auto claim = change.claim = std::make_shared<CommandClaim>();
  uint64_t request = 0;
  bool posted = false;
  Response response;
  {
    const std::lock_guard lock(mutex_);
    change.request = request = next_request_++;
    requests_[request] = {[promise](const PlanOutcome& outcome) { promise->set_value(outcome); }};
    response = post_edit(edit, std::move(change), posted);
    if (!posted) requests_.erase(request);
  }
  if (!posted) return response;
  const auto answered = [&] { return future.wait_for(options_.plan_timeout) == std::future_status::ready; };
  if (!answered()) {
    // If give_up() returns false, the change has taken effect, and its outcome follows.
    const bool given_up = claim->give_up();
    if (given_up || !answered()) {
      take_request(request);
      return {Status::failed, given_up ? "the graph could not be planned in time" : kNoOutcome};
    }
  }
  const PlanOutcome outcome = future.get();
  if (!outcome.problem.empty()) return {Status::refused, outcome.problem};
  ++graph_changes_;
  response.data["frame"] = outcome.frame;
  return response;
}

/// Removes and returns a request's callback. Returns an empty function if there is no such request.
Session::OutcomeCallback Session::take_request(uint64_t request) {
  const std::lock_guard lock(mutex_);
  const auto node = requests_.extract(request);
  return node ? std::move(node.mapped().callback) : nullptr;
}

/// Refuses requests. Call without mutex_ locked.
void Session::fail(const Requests& requests, const std::string& reason) {
  for (const auto& [id, request] : requests) request.callback({id, reason, 0});
}

/// Refuses the requests whose deadline has passed, unless they have taken effect and their outcome follows.
/// Their changes never take effect. An outcome that does not follow before a second timeout is an error, too.
/// If `running` has failed, refuses all, because it plans nothing more.
void Session::fail_overdue(const Pipeline& running, bool failed) {
  Requests overdue, without_outcome;
  {
    const std::lock_guard lock(mutex_);
    if (&running != pipeline_.get()) return;
    const int64_t now = now_ns();
    for (auto next = requests_.begin(); next != requests_.end();) {
      const auto node = next++;
      const OpenRequest& request = node->second;
      const bool given_up = now > request.deadline_ns && request.claim && request.claim->give_up();
      if (given_up) {
        const auto is_of_request = [&](const auto& p) { return p.second.ticket == request.ticket; };
        if (std::erase_if(pending_, is_of_request) > 0) predicted_from_.reset();
      }
      if (failed || given_up)
        overdue.insert(requests_.extract(node));
      else if (now - options_.plan_timeout.count() > request.deadline_ns)
        without_outcome.insert(requests_.extract(node));
    }
  }
  fail(overdue, failed ? "the source has failed" : "the change could not be planned in time");
  fail(without_outcome, kNoOutcome);
}

}  // namespace lensd
