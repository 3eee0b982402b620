#include "app/serve/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

#include "app/pipeline/queue_sink.hpp"
#include "app/serve/session_answers.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/keys.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

/// How long a plan may take before its transaction is given up; the pipeline may be ending.
constexpr auto kPlanPatience = std::chrono::seconds(30);

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
  return answer.fault == Status::none && graph ? plan(*graph) : answer;
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
    return {Status::busy, running ? "too many commands are waiting" : kNoSourceYet, {}};
  }
  if (outcome.wait_for(kPlanPatience) != std::future_status::ready) {
    const std::lock_guard lock(mutex_);
    requests_.erase(request);
    return {Status::failed, "the graph could not be planned in time", {}};
  }
  const PlanOutcome result = outcome.get();
  if (!result.problem.empty()) return refused(result.problem);
  ++graph_changes_;
  return {Status::none, {}, {{"frame", result.frame}}};
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
    else if (!equivalent(next.graph, graph().graph, registry_))
      answer = plan(next.graph);
  } catch (const Error& e) {
    answer = refused(e.what());
  }
  const int64_t frame = state().frame;
  if (answer.fault != Status::none) {
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
      answer = stopped_ ? Answer{Status::busy, "lensd is ending", {}} : job();
    } catch (const Error& e) {
      ++errors_;
      answer = {e.code() == ExitCode::runtime_failure ? Status::failed : Status::refused,
                without_secrets(e.what()),
                {}};
    } catch (const std::exception& e) {
      ++errors_;
      answer = {Status::failed, e.what(), {}};
    }
    (*shared)(std::move(answer));
  });
  if (!posted) (*shared)({Status::busy, "too much is waiting to be done", {}});
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

void Session::quit() {
  options_.quit();
}

}  // namespace lensd
