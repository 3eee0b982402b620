#include "app/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

#include "app/queue_sink.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/keys.hpp"
#include "core/control/change.hpp"
#include "core/media/recording.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kRateNs = 1'000'000'000;
/// How long a plan may take before its transaction is given up; the pipeline may be ending.
constexpr auto kPlanPatience = std::chrono::seconds(30);
/// How long a recording's first picture, or its end, is waited for before it is answered without.
constexpr int64_t kRecordPatienceNs = 2'000'000'000;

constexpr const char* kNoSourceYet = "the source is still being opened";

Answer refused(const std::string& sentence) {
  return {Fault::refused, sentence, {}};
}

/// How the recorder among the sinks does; streams have a state.
SinkStatus recorder_status(const Pipeline& pipeline) {
  for (const auto& sink : pipeline.sinks())
    if (SinkStatus status = sink->status(); status.state.empty()) return status;
  return {};
}

/// Asks 50 times a second until it is so, at most kRecordPatience.
template <class F>
void wait_until(F done) {
  for (const int64_t deadline = now_ns() + kRecordPatienceNs; !done() && now_ns() < deadline;)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

Session::Session(SessionOptions options, const Registry& registry)
    : options_(std::move(options)),
      registry_(registry),
      captures_(options_.captures),
      recordings_(options_.config.record_folder.value_or(options_.captures)),
      started_ns_(now_ns()),
      config_(options_.config),
      record_(options_.record) {
  if (!record_ || !record_->path.empty()) return;
  record_->beneath = recordings_.folder();
  // Made now or not at all: later it may be missing because a disk is, whose place nothing should take.
  std::error_code told_by_the_recorder;
  std::filesystem::create_directories(record_->beneath, told_by_the_recorder);
}

Session::~Session() {
  stop();
}

void Session::start(const std::string& url, const GraphDesc& graph) {
  {
    const std::lock_guard lock(mutex_);
    url_ = url;
  }
  replace(url, graph);
}

void Session::stop() {
  if (stopped_.exchange(true)) return;
  if (const auto running = pipeline()) end(*running);
  forget_requests("lensd is ending");
  transactions_.stop();
  files_.stop();
  const std::lock_guard lock(frame_mutex_);
  newest_.reset();
}

void Session::on_change(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
}

void Session::changed() const {
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

std::shared_ptr<Pipeline> Session::pipeline() const {
  const std::lock_guard lock(mutex_);
  return pipeline_;
}

// ---- transactions ---------------------------------------------------------------------------------------

/// Opens a source with a graph; the pipeline before it ends only when the new one is there.
void Session::replace(const std::string& url, const GraphDesc& graph) {
  std::shared_ptr<Pipeline> fresh = options_.open(url, graph);
  if (const auto old = exchange(fresh, url)) end(*old);
  forget_requests("the source was changed meanwhile");
  {
    const std::lock_guard lock(mutex_);
    if (record_) fresh->post(*record_);
    if (record_) record_->resumed = true;
  }
  fresh->start();
  changed();
}

/// Ends its threads and completes its files here, not wherever the last handle is dropped.
void Session::end(Pipeline& pipeline) {
  pipeline.stop();
  for (const auto& sink : pipeline.sinks())
    if (auto* queue = dynamic_cast<QueueSink*>(sink.get())) queue->finish();
  if (!options_.load)
    for (const PipelineNotice& notice : pipeline.take_notices()) tell(notice);
}

void Session::tell(const PipelineNotice& notice) {
  notice.problem ? log::warn("{}", notice.text) : log::info("{}", notice.text);
  hub_.publish("notice", state().frame, {{"problem", notice.problem}, {"text", notice.text}});
}

/// Gives back the pipeline before it.
std::shared_ptr<Pipeline> Session::exchange(std::shared_ptr<Pipeline> fresh, const std::string& url) {
  {
    const std::lock_guard lock(frame_mutex_);
    newest_.reset();
  }
  const std::lock_guard lock(mutex_);
  if (stopped_) throw Error(ExitCode::runtime_failure, "session", "lensd is ending");
  url_ = url;
  pending_.clear();
  rate_ns_ = 0;
  return std::exchange(pipeline_, std::move(fresh));
}

void Session::attach(std::shared_ptr<Pipeline> pipeline, const std::string& url) {
  exchange(std::move(pipeline), url);
  forget_requests("the source was changed meanwhile");
  changed();
}

void Session::offer(Frame frame) {
  const std::lock_guard lock(frame_mutex_);
  if (!stopped_) newest_ = std::move(frame);
}

/// Has the owner of the pipelines open a source, and waits for it. On the transactions' thread.
Answer Session::open_elsewhere(const std::string& url, const GraphDesc* graph) {
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = promise->get_future();
  options_.load(url, [promise](Answer answer) { promise->set_value(std::move(answer)); });
  Answer answer = future.get();
  return answer.fault == Fault::none && graph ? plan(*graph) : answer;
}

/// Has a graph planned and waits until it runs or is refused. On the transactions' thread.
Answer Session::plan(const GraphDesc& graph) {
  const auto promise = std::make_shared<std::promise<PlanOutcome>>();
  std::future<PlanOutcome> outcome = promise->get_future();
  uint64_t request = 0;
  std::shared_ptr<Pipeline> running;
  {
    const std::lock_guard lock(mutex_);
    request = next_request_++;
    running = pipeline_;
    requests_[request] = [promise](const PlanOutcome& o) { promise->set_value(o); };
  }
  if (!running || stopped_ || !running->try_post(SetGraph{graph, request})) {
    const std::lock_guard lock(mutex_);
    requests_.erase(request);
    return {Fault::busy, running ? "too many commands are waiting" : kNoSourceYet, {}};
  }
  if (outcome.wait_for(kPlanPatience) != std::future_status::ready) {
    const std::lock_guard lock(mutex_);
    requests_.erase(request);
    return {Fault::failed, "the graph could not be planned in time", {}};
  }
  const PlanOutcome result = outcome.get();
  if (!result.problem.empty()) return refused(result.problem);
  ++graph_changes_;
  return {Fault::none, {}, {{"frame", result.frame}}};
}

void Session::forget_requests(const std::string& why) {
  decltype(requests_) open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(requests_);
  }
  for (auto& [id, reply] : open) reply({id, why, 0});
}

Answer Session::reload_now() {
  Layered next;
  Answer answer;
  try {
    next = load_layers(options_.layers, registry_);
    const std::string url = next.config.source_url.value_or("");
    std::string old_url;
    {
      const std::lock_guard lock(mutex_);
      old_url = config_.source_url.value_or("");
    }
    if (!options_.source_fixed && url != old_url && options_.load)
      answer = open_elsewhere(url, &next.graph);
    else if (!options_.source_fixed && url != old_url)
      replace(url, next.graph);
    else if (!same_graph(next.graph, graph().graph, registry_))
      answer = plan(next.graph);
  } catch (const Error& e) {
    answer = refused(e.what());
  }
  const int64_t frame = state().frame;
  if (answer.fault != Fault::none) {
    ++reloads_refused_;
    const auto problems = lines_of(answer.error);
    for (const std::string& line : problems) log::error("reload refused: {}", line);
    hub_.publish("reload", frame, {{"ok", false}, {"problems", problems}});
    return answer;
  }
  ++reloads_;
  if (next.config.log_level) log::set_level(*next.config.log_level);
  tell_restart_keys(next.config);
  {
    const std::lock_guard lock(mutex_);
    config_ = next.config;
  }
  log::info("configuration reloaded");
  hub_.publish("reload", frame, {{"ok", true}});
  changed();
  return answer;
}

/// Names the changed values that are only looked at when the program starts.
void Session::tell_restart_keys(const Config& next) {
  Config old;
  {
    const std::lock_guard lock(mutex_);
    old = config_;
  }
  std::vector<std::string> names;
  for (const ConfigTable& table : config_tables())
    for (const ConfigKey& key : table.keys) {
      const std::string name = table.name + "." + key.spec.name;
      const bool live = name == "log.level" || (name == "source.url" && !options_.source_fixed);
      if (!live && key.spec.get(&old) != key.spec.get(&next)) names.push_back(name);
    }
  if (names.empty()) return;
  const std::string text = fmt::format("takes effect after a restart: {}", fmt::join(names, ", "));
  log::warn("{}", text);
  hub_.publish("notice", state().frame, {{"problem", true}, {"text", text}});
}

/// Runs a job on another thread and sends its answer; what it throws becomes one.
void Session::enqueue(Jobs& jobs, Reply reply, std::function<Answer()> job) {
  const auto shared = std::make_shared<Reply>(std::move(reply));
  const bool posted = !stopped_ && jobs.post([this, shared, job = std::move(job)] {
    Answer answer;
    try {
      answer = stopped_ ? Answer{Fault::busy, "lensd is ending", {}} : job();
    } catch (const Error& e) {
      ++errors_;
      answer = {e.code() == ExitCode::runtime_failure ? Fault::failed : Fault::refused,
                without_secrets(e.what()),
                {}};
    } catch (const std::exception& e) {
      ++errors_;
      answer = {Fault::failed, e.what(), {}};
    }
    (*shared)(std::move(answer));
  });
  if (!posted) (*shared)({Fault::busy, "too much is waiting to be done", {}});
}

void Session::set_graph(GraphDesc graph, Reply reply) {
  enqueue(transactions_, std::move(reply), [this, graph = std::move(graph)] { return plan(graph); });
}

void Session::load(std::string url, Reply reply) {
  enqueue(transactions_, std::move(reply), [this, url = std::move(url)] {
    if (options_.load) return open_elsewhere(url, nullptr);
    replace(url, graph().graph);
    return Answer{};
  });
}

void Session::reload(Reply reply) {
  enqueue(transactions_, std::move(reply), [this] { return reload_now(); });
}

// ---- files ----------------------------------------------------------------------------------------------

void Session::snapshot(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)] {
    const bool jpeg = path.ends_with(".jpg") || path.ends_with(".jpeg");
    if (!path.empty() && !jpeg && !path.ends_with(".png"))
      return refused(fmt::format("{}: snapshots are written as .png or .jpg", path));
    const auto encoded = picture(jpeg ? PictureType::jpeg : PictureType::png, 0);
    if (!encoded) return refused("there is no frame yet");
    const std::string name = path.empty() ? Captures::file_name(encoded->frame.index, ".png") : path;
    const std::string file = captures_.write(
        name, {reinterpret_cast<const uint8_t*>(encoded->bytes.data()), encoded->bytes.size()});
    return Answer{Fault::none, {}, {{"path", file}, {"frame", encoded->frame.index}}};
  });
}

void Session::trace(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)] {
    const auto running = pipeline();
    if (!running) return Answer{Fault::busy, kNoSourceYet, {}};
    const std::string text = running->timeline().chrome_trace();
    const std::string name = path.empty() ? Captures::file_name(state().frame, ".trace.json") : path;
    const std::string file =
        captures_.write(name, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    return Answer{Fault::none, {}, {{"path", file}}};
  });
}

void Session::record(bool on, StartRecord what, Reply reply) {
  enqueue(files_, std::move(reply),
          [this, on, what = std::move(what)] { return on ? record_now(what) : stop_recording(); });
}

Answer Session::record_now(StartRecord what) {
  const auto running = pipeline();
  if (!running) return {Fault::busy, kNoSourceYet, {}};
  if (!what.path.empty()) {
    recording_muxer(what.path);  // refuses what is no video
    recordings_.checked(what.path);
  }
  std::error_code ignored;
  std::filesystem::create_directories(recordings_.folder(), ignored);
  what.beneath = recordings_.folder();
  const uint64_t before = recorder_status(*running).begun;
  {
    const std::lock_guard lock(mutex_);
    record_ = what;
    record_->keep_trying = true;
  }
  if (!post(*record_)) return {Fault::busy, "too many commands are waiting", {}};
  SinkStatus now;
  wait_until([&] {
    now = recorder_status(*running);
    return stopped_ || (now.begun > before && (!now.problem.empty() || now.frames > 0));
  });
  if (now.begun > before && !now.problem.empty()) {
    stop_recording();
    return {Fault::failed, now.problem, {}};
  }
  const std::lock_guard lock(mutex_);
  if (record_) record_->resumed = true;
  // Paused, or the source is away: the name is made with the first picture.
  if (now.begun == before || now.files == 0) return {Fault::none, {}, {{"folder", recordings_.folder()}}};
  return {Fault::none, {}, {{"path", now.path}}};
}

Answer Session::stop_recording() {
  {
    const std::lock_guard lock(mutex_);
    record_.reset();
  }
  const auto running = pipeline();
  if (!running) return {};
  const bool any = recorder_status(*running).wanted;
  if (!post(StopRecord{})) return {Fault::busy, "too many commands are waiting", {}};
  if (!any) return {};
  SinkStatus done;
  wait_until([&] {
    done = recorder_status(*running);
    return stopped_ || !done.wanted;
  });
  return {Fault::none, {}, {{"path", done.path}, {"frames", done.frames}, {"files", done.files}}};
}

void Session::quit() {
  options_.quit();
}

/// The newest frame, also while nothing moves; empty before the first one.
Frame Session::newest_frame() {
  const auto running = pipeline();
  const std::lock_guard lock(frame_mutex_);
  if (!running || stopped_) return {};
  if (!options_.load)
    if (Frame frame = running->take_newest()) newest_ = std::move(frame);
  return newest_ ? newest_.share() : Frame();
}

std::shared_ptr<const EncodedPicture> Session::picture(PictureType type, int64_t made_after_ns) {
  const Frame frame = newest_frame();
  if (!frame || frame.info.processed_ns <= made_after_ns) return nullptr;
  if (frame.memory() == MemoryKind::device)
    throw Error(ExitCode::runtime_failure, "picture", "the frames of this run stay on the GPU",
                "take snapshots in the window, or run lensd serve");
  frame.wait_ready();
  auto encoded = std::make_shared<EncodedPicture>();
  Encoder& encoder = type == PictureType::png ? png_ : jpeg_;
  const std::lock_guard lock(encoder.mutex);
  const auto bytes = encoder.still.encode(frame.image());
  encoded->bytes.assign(bytes.begin(), bytes.end());
  encoded->frame = frame.info;
  return encoded;
}

// ---- values ---------------------------------------------------------------------------------------------

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
  state.graph = view->wanted;
  for (const Pending& pending : pending_) {
    GraphDesc changed = state.graph;
    bool ignored = false, ok = true;
    for (const auto& change : pending.changes)
      ok = ok && change_graph(changed, change, registry_, ignored).empty();
    if (ok) state.graph = std::move(changed);
  }
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
  s.source_reason = running->source_damage();
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
