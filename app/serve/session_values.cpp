// Values of a session: the state of the run, measurements, events.
#include <fmt/format.h>

#include <utility>

#include "app/serve/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd {
namespace {

/// Minimum interval over which the frame rate is measured.
constexpr int64_t kRateNs = 1'000'000'000;

}  // namespace

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
  const BackendChoice backend = running ? running->backend(options_.backend) : options_.backend;
  s.backend = name(backend.backend), s.backend_reason = backend.reason;
  s.source_state = "connecting";
  if (!running) return s;
  static_cast<PipelineStatus&>(s) = running->status();
  const std::shared_ptr<const GraphView> graph = running->graph();
  s.device_bytes = graph->device_bytes;
  const SourceInfo& info = running->source();
  s.source_name = info.name, s.source_fps = info.fps, s.duration_ns = info.duration_ns;
  s.live_source = info.live, s.seekable = info.seekable, s.picture = info.picture.upright();
  for (const PlannedNode& node : graph->planned) {
    if (!node.automatic && !node.scope) s.sizes.emplace_back(node.id, node.output.extent);
    // The size may change within a file and after a reconnection. `info` has the size of the first picture,
    // or a guess.
    if (node.id == kSourceNode) s.picture = node.output.extent;
  }
  s.source_detail = fmt::format("{}×{} {}{}{}", s.picture.width, s.picture.height, describe(info.picture),
                                info.codec.empty() ? "" : ", ", info.codec);
  if (s.fields != FieldOrder::progressive) s.source_detail += fmt::format(", {}", name(s.fields));
  s.video_tracks = info.video_tracks, s.video_track = info.video_track;
  s.source_reason = running->source_errors();
  const bool away = s.live.live && s.live.state != LiveState::playing;
  s.source_state = s.failed                 ? "failed"
                   : away                   ? name(s.live.state)
                   : s.ended                ? "ended"
                   : s.paused               ? "paused"
                   : s.stalled_since_ns > 0 ? name(LiveState::stalled)
                                            : "playing";
  if (s.live.live) {
    s.source_reason = without_secrets(s.live.reason);
    s.source_detail = s.live.stream;
  } else if (s.source_state == name(LiveState::stalled) && s.source_reason.empty()) {
    s.source_reason = "the next picture has not arrived";
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
  send_notice(problem, text);
}

void Session::send_notice(bool problem, const std::string& text) {
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
  fail_overdue(*running, now.failed);
  const GraphState current = graph();
  if (std::exchange(seen_version_, current.version) != current.version)
    hub_.publish("graph", current.frame, {{"version", current.version}});
  const std::string source = now.source_url + now.source_state;
  if (std::exchange(seen_source_, source) != source) publish_source(now);
}

}  // namespace lensd
