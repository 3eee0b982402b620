// What a session tells and takes of values: parameters, the graph, the state of the run, events.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/serve/session.hpp"
#include "app/serve/session_answers.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/graph/edit.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

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
  GraphState state;
  if (!pipeline_) {
    state.graph = options_.graph;
    return state;
  }
  // First the count, then the graph: whatever is counted as applied is in it.
  const uint64_t applied = pipeline_->status().applied;
  const auto view = pipeline_->graph();
  std::erase_if(pending_, [&](const Pending& p) { return p.ticket <= applied; });
  state.version = view->version, state.frame = view->frame, state.summary = view->summary;
  state.graph = view->requested;
  for (const Pending& pending : pending_) apply_changes(state.graph, pending.changes, registry_);
  return state;
}

RunState Session::state() const {
  RunState s;
  std::shared_ptr<Pipeline> running;
  {
    const std::lock_guard lock(mutex_);
    running = pipeline_;
    s.source_url = without_secrets(url_);
    if (running) {
      const int64_t now = now_ns();
      const uint64_t processed = running->status().processed;
      if (rate_ns_ == 0) rate_ns_ = now, rate_frames_ = processed, rate_ = 0;
      if (now - rate_ns_ >= kRateNs) {
        rate_ = static_cast<double>(processed - rate_frames_) / to_s(now - rate_ns_);
        rate_ns_ = now, rate_frames_ = processed;
      }
      s.rate = rate_;
    }
  }
  s.reloads = reloads_, s.reloads_refused = reloads_refused_, s.graph_changes = graph_changes_,
  s.errors = errors_, s.started_ns = started_ns_, s.alive = alive_;
  s.backend = name(options_.backend.backend), s.backend_reason = options_.backend.reason;
  s.source_state = "connecting";
  if (!running) return s;
  const PipelineStatus status = running->status();
  const SourceInfo& info = running->source();
  s.source_name = info.name, s.source_fps = info.fps, s.duration_ns = info.duration_ns;
  s.live = info.live, s.seekable = info.seekable, s.picture = info.picture.upright();
  s.source_detail = fmt::format("{}×{} {}{}{}", s.picture.width, s.picture.height, describe(info.picture),
                                info.codec.empty() ? "" : ", ", info.codec);
  s.paused = status.paused, s.ended = status.ended, s.bypass = status.bypass, s.loop_file = status.loop_file;
  s.speed = status.speed, s.frame = status.frame_index, s.position_ns = status.position_ns;
  s.decoded = status.decoded, s.processed = status.processed, s.late = status.late;
  s.dropped = status.dropped;
  s.source_reason = running->source_errors();
  const bool away = status.live.live && status.live.state != LiveState::playing;
  s.source_state = status.failed   ? "failed"
                   : away          ? name(status.live.state)
                   : status.ended  ? "ended"
                   : status.paused ? "paused"
                                   : "playing";
  if (status.live.live) {
    s.source_reason = without_secrets(status.live.reason), s.reconnects = status.live.reconnects;
    // What is announced at first is a guess until a picture has come, and may change at any return.
    s.source_detail = status.live.stream;
    for (const PlannedNode& node : running->graph()->planned)
      if (node.id == kSourceNode) s.picture = node.output.extent;
  }
  for (const auto& sink : running->sinks()) {
    const SinkStatus sunk = sink->status();
    if (sunk.state.empty()) {
      if (sunk.recording) s.recording = sunk.path;
      s.record = {sunk.wanted, sunk.recording, sunk.frames,   sunk.bytes,
                  sunk.files,  sunk.dropped,   sunk.failures, sunk.problem};
    } else {
      s.stream = {sunk.path, sunk.state, sunk.frames, sunk.bytes, sunk.dropped};
    }
  }
  return s;
}

std::vector<PassStats> Session::timings() const {
  const auto running = pipeline();
  return running ? running->profiler().snapshot() : std::vector<PassStats>{};
}

std::vector<Profiler::Histogram> Session::histograms() const {
  const auto running = pipeline();
  return running ? running->profiler().histograms() : std::vector<Profiler::Histogram>{};
}

std::vector<NodeStatistics> Session::statistics() const {
  const auto running = pipeline();
  return running ? running->statistics() : std::vector<NodeStatistics>{};
}

// ---- the control thread ---------------------------------------------------------------------------------

void Session::pump() {
  const auto running = pipeline();
  if (!running) return;
  const RunState now = state();
  if (!options_.load)
    for (const PipelineNotice& notice : running->take_notices()) tell(notice);
  for (const PlanOutcome& outcome : running->take_outcomes()) {
    std::function<void(const PlanOutcome&)> reply;
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = requests_.find(outcome.request); it != requests_.end()) {
        reply = std::move(it->second);
        requests_.erase(it);
      }
    }
    if (reply) reply(outcome);
  }
  const auto view = running->graph();
  if (view->version != seen_version_) {
    seen_version_ = view->version;
    hub_.publish("graph", view->frame, {{"version", view->version}});
  }
  const std::string source = now.source_url + now.source_state;
  if (source != seen_source_) {
    seen_source_ = source;
    const bool away = now.live && now.source_state != "playing" && now.source_state != "paused";
    if (away)
      log::warn("{}: {}{}", now.source_name, now.source_state,
                now.source_reason.empty() ? "" : ", " + now.source_reason);
    // Who reads of the loss, at the usual level, reads of the return.
    if (std::exchange(told_away_, away) && !away) log::warn("{}: {}", now.source_name, now.source_state);
    hub_.publish("source", now.frame,
                 {{"url", now.source_url}, {"state", now.source_state}, {"reason", now.source_reason}});
  }
}

}  // namespace lensd
