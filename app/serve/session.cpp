#include "app/serve/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <future>
#include <optional>
#include <utility>

#include "app/pipeline/queue_sink.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/config/keys.hpp"
#include "core/control/properties.hpp"

namespace lensd {
namespace {

constexpr const char* kEnding = "lensd is ending";
constexpr const char* kBusy = "too many requests are waiting";
constexpr const char* kSuperseded = "cancelled by a newer load or reload";

}  // namespace

Session::Session(SessionOptions options, const Registry& registry)
    : options_(std::move(options)),
      registry_(registry),
      captures_(options_.captures),
      recordings_(options_.config.record_folder.empty() ? options_.captures : options_.config.record_folder),
      started_ns_(now_ns()),
      config_(options_.config),
      record_(options_.record) {
  if (!record_ || !record_->path.empty()) return;
  record_->beneath = recordings_.path();
  recordings_.create();
}

Session::~Session() {
  stop();
}

void Session::start(const std::string& url, const GraphDesc& graph) {
  {
    const std::lock_guard lock(mutex_);
    url_ = url;
  }
  const auto cancel = std::make_shared<std::atomic<bool>>(stopping_.load());
  {
    const std::lock_guard lock(mutex_);
    starting_ = cancel;
  }
  open_and_start(url, SetGraph{graph}, cancel);
}

void Session::stop() {
  if (stopped_.exchange(true)) return;
  stop_soon();
  if (const auto running = pipeline()) shut_down(*running);
  Requests open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(requests_);
  }
  fail(open, kEnding);
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

// ---- the pipeline ---------------------------------------------------------------------------------------

/// Copies speed, precision, colour settings and looping from the current pipeline to `next`, because they
/// belong to the session, not to the source. The settings of `change` take precedence.
void Session::keep_settings(Pipeline& next, const SetGraph& change) const {
  std::optional<Precision> precision = change.precision;
  std::optional<ColourSettings> colour = change.colour;
  if (const auto old = pipeline()) {
    const PipelineStatus status = old->status();
    next.post(SetSpeed{status.speed});
    next.post(SetFileLoop{status.loop_file});
    if (!precision) precision = status.precision;
    if (!colour) colour = status.colour;
  }
  if (precision) next.post(SetPrecision{*precision});
  if (colour) next.post(SetColour{*colour});
}

/// Opens a source. Set `cancel` to true to cancel the opening. Throws Error.
std::shared_ptr<Pipeline> Session::open(const std::string& url, const GraphDesc& graph, const Flag& cancel) {
  std::unique_ptr<Pipeline> opened;
  std::exception_ptr failure;
  try {
    opened = options_.open(url, graph, *cancel);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    for (Flag* flag : {&starting_, &loading_})
      if (*flag == cancel) flag->reset();  // from here on nothing cancels the source
  }
  if (*cancel) throw Error(ExitCode::bad_source, url_without_secrets(url), stopping_ ? kEnding : kSuperseded);
  if (failure) std::rethrow_exception(failure);
  return {opened.release(), [cancel](Pipeline* pipeline) { delete pipeline; }};
}

/// Opens a source with a graph and settings. The old pipeline stops only after the new one is open.
void Session::open_and_start(const std::string& url, const SetGraph& change, const Flag& cancel) {
  const std::shared_ptr<Pipeline> next = open(url, change.graph, cancel);
  keep_settings(*next, change);
  if (const auto old = swap_pipeline(next, url)) {
    completing_since_ns_ = now_ns();
    shut_down(*old);
    completing_since_ns_ = 0;
  }
  next->start();
  changed();
}

/// Joins the pipeline's threads and completes its files, even if others still own the pipeline.
void Session::shut_down(Pipeline& pipeline) {
  pipeline.stop();
  finish_sinks(pipeline.sinks());
  if (!options_.load)
    for (const Notice& notice : pipeline.take_notices()) publish_notice(notice.problem, notice.text);
}

/// Replaces the pipeline and returns the old one. Refuses the open requests of the old one. Continues the
/// requested recording, except with SessionOptions::load. Throws Error(runtime_failure) after stop().
std::shared_ptr<Pipeline> Session::swap_pipeline(std::shared_ptr<Pipeline> next, const std::string& url) {
  {
    const std::lock_guard lock(frame_mutex_);
    newest_.reset();
  }
  Requests open;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw Error(ExitCode::runtime_failure, "session", kEnding);
    if (pipeline_) earlier_versions_ += pipeline_->graph()->version;
    url_ = url;
    pending_.clear(), predicted_from_.reset();
    rate_ns_ = 0;
    if (record_ && !options_.load) {
      // The old pipeline may have created the file, although start_recording() still waits for it.
      record_->resumed = record_->resumed || pipeline_;
      // Post before clients can fill the queue: `next` reads no commands until it is started.
      next->post(*record_);
      record_->resumed = true;
    }
    pipeline_.swap(next);
    open.swap(requests_);
  }
  fail(open, "the source was replaced before the change took effect");
  return next;
}

void Session::attach(std::shared_ptr<Pipeline> pipeline, const std::string& url) {
  swap_pipeline(std::move(pipeline), url);
  changed();
}

void Session::set_newest_frame(Frame frame) {
  const std::lock_guard lock(frame_mutex_);
  if (!stopped_) newest_ = std::move(frame);
}

// ---- transactions: on their own thread, one after another -----------------------------------------------

/// Opens a source with the graph and settings of `change`, or with the current ones if it is null.
Response Session::load_now(const std::string& url, const SetGraph* change, const Flag& cancel) {
  if (*cancel) return {Status::refused, stopping_ ? kEnding : kSuperseded};
  if (!options_.load) {
    open_and_start(url, change ? *change : SetGraph{graph().graph}, cancel);
    return {};
  }
  const auto promise = std::make_shared<std::promise<Response>>();
  std::future<Response> future = promise->get_future();
  options_.load(url, [promise](Response response) { promise->set_value(std::move(response)); });
  Response response = future.get();
  return response.ok() && change ? plan(*change) : response;
}

/// Applies the changes of a configuration as one command, so that all take effect or none. If the source has
/// changed, opens it with the new graph and settings.
Response Session::apply_config(const Layered& next, const Flag& cancel) {
  const std::string& url = next.config.source_url;
  SetGraph change{next.graph};
  ControlValues controls = next.config.source_controls;
  bool new_source = false;
  {
    const std::lock_guard lock(mutex_);
    new_source = url != config_.source_url;
    if (next.config.precision != config_.precision) change.precision = next.config.precision;
    if (next.config.colour != config_.colour) change.colour = next.config.colour;
    for (const auto& old : config_.source_controls) std::erase(controls, old);
  }
  if (new_source) return load_now(url, &change, cancel);
  if (change.precision || change.colour || !equivalent(next.graph, graph().graph, registry_)) {
    change.controls = std::move(controls);
    return plan(change);
  }
  const bool posted = controls.empty() || post(SetSourceControls{std::move(controls), true});
  return posted ? Response{} : not_posted();
}

Response Session::reload_now(const Flag& cancel) {
  Layered next;
  Response response;
  try {
    Layers layers = options_.layers;
    layers.kind = FileKind::regular;
    next = load_layers(layers, registry_);
    response = apply_config(next, cancel);
  } catch (const Error& e) {
    response = {Status::refused, without_secrets(e.what())};
  }
  const int64_t frame = state().frame_index;
  if (!response.ok()) {
    ++reloads_refused_;
    const auto problems = split(response.error, "\n");
    for (const std::string& line : problems) log::error("reload refused: {}", line);
    hub_.publish("reload", frame, {{"ok", false}, {"problems", problems}});
    return response;
  }
  ++reloads_;
  Config old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(config_, next.config);
  }
  // A removed key restores the default.
  if (next.config.has("log.level") || old.has("log.level")) log::set_level(next.config.log_level);
  warn_restart_keys(old, next.config);
  log::info("configuration reloaded");
  hub_.publish("reload", frame, {{"ok", true}});
  changed();
  return response;
}

/// Publishes a notice with the changed keys that take effect only after a restart.
void Session::warn_restart_keys(const Config& old, const Config& next) {
  std::vector<std::string> names;
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params) {
      const std::string name = key_name(table, key);
      const bool live = name == "log.level" || name == "source.url" || name == "graph.precision" ||
                        (table.name == "colour" && colour_schema().find(key.name));
      // A value that returns to that of the start needs no restart.
      const bool differs = key.get(&old) != key.get(&next) && key.get(&options_.config) != key.get(&next);
      if (!live && differs) names.push_back(name);
    }
  if (!names.empty())
    publish_notice(true, fmt::format("takes effect after a restart: {}", fmt::join(names, ", ")));
}

/// Queues a job, which replies with its response or its exception. Returns false, without a reply, if the
/// queue is full and after stop().
bool Session::try_enqueue(Jobs& jobs, const std::shared_ptr<Reply>& reply, std::function<Response()> job) {
  return !stopped_ && jobs.post([this, reply, job = std::move(job)] {
    Response response;
    try {
      response = stopped_ ? Response{Status::busy, kEnding} : job();
    } catch (const Error& e) {
      response = {e.code() == ExitCode::runtime_failure ? Status::failed : Status::refused,
                  without_secrets(e.what())};
    } catch (const std::exception& e) {
      response = {Status::failed, without_secrets(e.what())};
    }
    if (response.status == Status::failed) ++errors_;  // a refusal is the client's error
    (*reply)(std::move(response));
  });
}

/// Queues a job. Replies Status::busy if it cannot be queued.
void Session::enqueue(Jobs& jobs, Reply reply, std::function<Response()> job) {
  const auto shared = std::make_shared<Reply>(std::move(reply));
  if (!try_enqueue(jobs, shared, std::move(job))) (*shared)({Status::busy, kBusy});
}

/// Queues a load or reload, and cancels the earlier ones. Returns false, without a reply, if it cannot be
/// queued.
bool Session::try_enqueue_load(const std::shared_ptr<Reply>& reply,
                               std::function<Response(const Flag&)> job) {
  // Hold the lock, so that the job cannot finish open() before loading_ is set to its flag.
  const std::lock_guard lock(mutex_);
  const auto cancel = std::make_shared<std::atomic<bool>>(stopping_.load());
  if (!try_enqueue(transactions_, reply, [job = std::move(job), cancel] { return job(cancel); }))
    return false;
  if (loading_) *loading_ = true;
  loading_ = cancel;
  return true;
}

void Session::set_graph(GraphDesc graph, Reply reply) {
  enqueue(transactions_, std::move(reply),
          [this, graph = std::move(graph)] { return plan(SetGraph{graph}); });
}

void Session::edit_graph(GraphEdit edit, Reply reply) {
  enqueue(transactions_, std::move(reply), [this, edit = std::move(edit)] { return plan_edit(edit); });
}

void Session::load(std::string url, Reply reply) {
  const auto shared = std::make_shared<Reply>(std::move(reply));
  const auto job = [this, url = without_file_scheme(url)](const Flag& cancel) {
    return load_now(url, nullptr, cancel);
  };
  if (!try_enqueue_load(shared, job)) (*shared)({Status::busy, kBusy});
}

void Session::reload(Reply reply) {
  if (!try_reload(reply)) reply({Status::busy, kBusy});
}

bool Session::try_reload(const Reply& reply) {
  return try_enqueue_load(std::make_shared<Reply>(reply),
                          [this](const Flag& cancel) { return reload_now(cancel); });
}

void Session::quit() {
  options_.quit();
}

}  // namespace lensd
