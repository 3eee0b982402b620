// Values of a session: parameters, the graph, the state of the run, events.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/serve/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/url_secrets.hpp"
#include "core/graph/edit.hpp"

namespace lensd {
namespace {

/// Minimum interval over which the frame rate is measured.
constexpr int64_t kRateNs = 1'000'000'000;

}  // namespace

bool Session::post(Command command) {
  Pending pending;
  if (const auto* set = std::get_if<SetParam>(&command)) pending.changes = {*set};
  if (const auto* set = std::get_if<SetEnabled>(&command)) pending.changes = {*set};
  if (const auto* batch = std::get_if<Batch>(&command)) pending.changes = batch->changes;
  const std::lock_guard lock(mutex_);
  if (stopped_ || !pipeline_) return false;
  pending.ticket = pipeline_->try_post(std::move(command));
  if (!pending.ticket) return false;
  if (!pending.changes.empty()) pending_.push_back(std::move(pending));
  return true;
}

GraphState Session::graph() const {
  const std::lock_guard lock(mutex_);
  return current_graph();
}

/// Call with mutex_ locked.
GraphState Session::current_graph() const {
  GraphState state;
  if (!pipeline_) {
    state.graph = options_.graph;
    return state;
  }
  // Read the last applied ticket before the graph, so that the graph contains every change up to this ticket.
  const uint64_t applied = pipeline_->status().applied;
  const auto view = pipeline_->graph();
  std::erase_if(pending_, [&](const Pending& p) { return p.ticket <= applied; });
  state.version = view->version, state.frame = view->frame, state.summary = view->summary;
  state.graph = view->requested;
  for (const Pending& pending : pending_) apply_changes(state.graph, pending.changes, registry_);
  return state;
}

/// Returns the frame rate of the last complete interval, in frames per second. Call with mutex_ locked.
double Session::frame_rate(uint64_t processed) const {
  const int64_t now = now_ns();
  if (rate_ns_ == 0) rate_ns_ = now, rate_frames_ = processed, rate_ = 0;
  if (now - rate_ns_ >= kRateNs) {
    rate_ = static_cast<double>(processed - rate_frames_) / to_s(now - rate_ns_);
    rate_ns_ = now, rate_frames_ = processed;
  }
  return rate_;
}

RunState Session::state() const {
  RunState s;
  std::shared_ptr<Pipeline> running;
  {
    const std::lock_guard lock(mutex_);
    running = pipeline_;
    s.source_url = url_without_secrets(url_);
    if (running) s.rate = frame_rate(running->status().processed);
  }
  s.reloads = reloads_, s.reloads_refused = reloads_refused_, s.graph_changes = graph_changes_,
  s.errors = errors_, s.started_ns = started_ns_, s.alive = alive_;
  s.backend = name(options_.backend.backend), s.backend_reason = options_.backend.reason;
  s.source_state = "connecting";
  if (!running) return s;
  static_cast<PipelineStatus&>(s) = running->status();
  const SourceInfo& info = running->source();
  s.source_name = info.name, s.source_fps = info.fps, s.duration_ns = info.duration_ns;
  s.live_source = info.live, s.seekable = info.seekable, s.picture = info.picture.upright();
  s.source_detail = fmt::format("{}×{} {}{}{}", s.picture.width, s.picture.height, describe(info.picture),
                                info.codec.empty() ? "" : ", ", info.codec);
  if (s.fields != FieldOrder::progressive) s.source_detail += fmt::format(", {}", name(s.fields));
  s.video_tracks = info.video_tracks, s.video_track = info.video_track;
  s.source_reason = running->source_errors();
  const bool away = s.live.live && s.live.state != LiveState::playing;
  s.source_state = s.failed   ? "failed"
                   : away     ? name(s.live.state)
                   : s.ended  ? "ended"
                   : s.paused ? "paused"
                              : "playing";
  if (s.live.live) {
    s.source_reason = without_secrets(s.live.reason);
    // Take the size from the plan: `info` has a guess until the first picture, and a reconnect may change the
    // size.
    s.source_detail = s.live.stream;
    for (const PlannedNode& node : running->graph()->planned)
      if (node.id == kSourceNode) s.picture = node.output.extent;
  }
  for (const auto& sink : running->sinks()) {
    SinkStatus status = sink->status();
    (status.kind == SinkKind::recorder ? s.record
     : status.kind == SinkKind::stream ? s.stream
                                       : s.virtual_camera) = std::move(status);
  }
  return s;
}

Measurements Session::measurements() const {
  const auto running = pipeline();
  if (!running) return {};
  return {running->profiler().snapshot(), running->statistics()};
}

std::shared_ptr<const SourceControls> Session::source_controls() const {
  const auto running = pipeline();
  return running ? running->source_controls(true) : nullptr;
}

// ---- the control thread ---------------------------------------------------------------------------------

void Session::publish_notice(bool problem, const std::string& text) {
  problem ? log::warn("{}", text) : log::info("{}", text);
  hub_.publish("notice", state().frame_index, {{"problem", problem}, {"text", text}});
}

void Session::publish_source(const RunState& now) {
  const bool away = now.live_source && now.source_state != "playing" && now.source_state != "paused";
  const std::string reason = away && !now.source_reason.empty() ? ", " + now.source_reason : "";
  // Log the source's return at the same level as its loss.
  if (std::exchange(source_away_, away) || away)
    log::warn("{}: {}{}", now.source_name, now.source_state, reason);
  hub_.publish("source", now.frame_index,
               {{"url", now.source_url}, {"state", now.source_state}, {"reason", now.source_reason}});
}

void Session::pump() {
  const auto running = pipeline();
  if (!running) return;
  const RunState now = state();
  if (!options_.load)
    for (const Notice& notice : running->take_notices()) publish_notice(notice.problem, notice.text);
  for (const PlanOutcome& outcome : running->take_outcomes())
    if (const auto callback = take_request(outcome.request)) callback(outcome);
  const auto view = running->graph();
  if (std::exchange(seen_version_, view->version) != view->version)
    hub_.publish("graph", view->frame, {{"version", view->version}});
  const std::string source = now.source_url + now.source_state;
  if (std::exchange(seen_source_, source) != source) publish_source(now);
}

}  // namespace lensd
