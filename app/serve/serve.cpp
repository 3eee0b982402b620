// lensd serve: the pipeline without a window, day and night, under control.
//
// This thread waits for signals, changed files and the time: it reloads, feeds the service manager's watchdog
// while the pipeline makes progress, and ends the run. Everything else has threads of its own.

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "app/run.hpp"
#include "app/serve/control_desk.hpp"
#include "app/serve/service_notify.hpp"
#include "app/serve/session.hpp"
#include "app/serve/signals.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/watch.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// How often state is looked at when nothing else wakes the thread.
constexpr int kTurnMs = 250;
constexpr int64_t kStatusNs = 5'000'000'000;
/// How often progress is looked for, and how long there may be none before /healthz says so.
constexpr int64_t kLookNs = 1'000'000'000, kStuckNs = 5'000'000'000;

/// Wakes a poll(); any thread.
class Bell {
 public:
  Bell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Bell() { close(fd_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  void ring() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(fd_, &one, sizeof one);
  }
  void quiet() const {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = read(fd_, &count, sizeof count);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// Whether the pipeline lives: its threads take turns, unless they have a reason to wait.
class Progress {
 public:
  /// Looks at the counters since the last call, and asks for a turn to be seen by the next one.
  bool made(Pipeline& pipeline) {
    const PipelineStatus now = pipeline.status();
    const bool processing = &pipeline != seen_ || now.process_heartbeat != processed_;
    const bool decoding =
        &pipeline != seen_ || now.decode_heartbeat != decoded_ || now.paused || now.ended || now.queue_full;
    seen_ = &pipeline, processed_ = now.process_heartbeat, decoded_ = now.decode_heartbeat;
    pipeline.wake();
    return processing && decoding && !now.failed;
  }

 private:
  const Pipeline* seen_ = nullptr;
  uint64_t processed_ = 0, decoded_ = 0;
};

class Daemon {
 public:
  Daemon(const CommandLine& line, const GraphDesc& graph)
      : line_(line),
        backend_(choose_backend(line.backend, probe_cuda(line.device))),
        session_(session_options(graph), registry()) {
    log::info("backend {}: {}", name(backend_.backend), backend_.reason);
    if (!line.layers.files.empty()) watch_.emplace(line.layers.files);
    desk_.emplace(session_, desk_options(line, true));
    // Opening may take its time on a network source, and signals are to be heard meanwhile.
    opening_ = std::thread([this, graph] {
      try {
        session_.start(source_url(line_), graph);
      } catch (...) {
        failure_ = std::current_exception();
      }
      opened_ = true;
      bell_.ring();
    });
  }

  ~Daemon() {
    cancel_ = true;
    if (opening_.joinable()) opening_.join();
    desk_.reset();
    session_.stop();
  }

  void run() {
    while (!ending_) turn();
    notify_.stopping();
    Signals::let_through();
    cancel_ = true;
    opening_.join();
    desk_.reset();
    const auto pipeline = session_.pipeline();
    session_.stop();
    // A source whose opening was given up because the end was asked for is no failure.
    if (failure_ && !asked_) std::rethrow_exception(failure_);
    if (!pipeline) return;
    if (!line_.timings.empty()) write_timings(line_.timings, pipeline->profiler().snapshot());
    if (!line_.trace.empty()) write_text(line_.trace, pipeline->timeline().chrome_trace());
    pipeline->check();
  }

 private:
  SessionOptions session_options(const GraphDesc& graph) {
    SessionOptions options;
    options.graph = graph;
    options.backend = backend_;
    options.captures = line_.config.control_folder.value_or("");
    options.layers = line_.layers, options.config = line_.config;
    options.source_fixed = line_.source_given;
    options.open = [this](const std::string& url, const GraphDesc& wanted) { return open(url, wanted); };
    if (!line_.record.empty())
      options.record = record_command(line_);
    else if (line_.config.record_on.value_or(false))
      options.record = StartRecord{};
    if (options.record) {
      options.record->keep_trying = true;
      if (line_.config.record_what == "source") options.record->what = StartRecord::What::source;
    }
    options.quit = [this] {
      quit_ = true;
      bell_.ring();
    };
    return options;
  }

  std::unique_ptr<Pipeline> open(const std::string& url, const GraphDesc& graph) {
    PipelineOptions options;
    options.backend = backend_.backend;
    options.executor = {.threads = line_.threads,
                        .device = line_.device,
                        .host_frames = true,
                        .frames = 8 + kFramesForSinks,  // two wait, one is held, others are being encoded
                        .timing_interval = line_.trace.empty() ? 8 : 1};
    options.graph = graph;
    options.paced = true, options.paused = line_.pause, options.loop_file = line_.loop_file;
    options.on_change = [this] { session_.changed(); };
    SourceOptions source = source_options(line_, backend_.backend);
    source.cancel = &cancel_;
    auto opened = open_source(url, source);
    options.sinks = {make_recorder(line_, opened->info())};
    if (auto stream = make_stream(line_, opened->info())) options.sinks.push_back(std::move(stream));
    options.executor.frames += kFramesForSinks * static_cast<int>(options.sinks.size() - 1);
    auto pipeline = std::make_unique<Pipeline>(std::move(opened), options, registry());
    if (line_.speed != 1) pipeline->post(SetSpeed{line_.speed});
    return pipeline;
  }

  void turn() {
    pollfd fds[3] = {
        {signals_.fd(), POLLIN, 0}, {bell_.fd(), POLLIN, 0}, {watch_ ? watch_->fd() : -1, POLLIN, 0}};
    int wait = kTurnMs;
    if (watch_ && watch_->wait_ms() >= 0) wait = std::min(wait, watch_->wait_ms());
    poll(fds, 3, wait);
    if (fds[1].revents) bell_.quiet();
    if (watch_ && fds[2].revents) watch_->drain();
    for (int signal; (signal = signals_.take()) != 0;)
      if (signal == SIGHUP)
        hangup_ = true;
      else
        asked_ = true;
    asked_ = asked_ || quit_;
    ending_ = ending_ || asked_;
    if (!ending_ && opened_) look_after();
  }

  void look_after() {
    const auto pipeline = session_.pipeline();
    if (failure_ || !pipeline || pipeline->status().failed) {
      ending_ = true;
      return;
    }
    if (!ready_) {
      ready_ = true;
      notify_.ready(status_text());
      log::info("serving {}", session_.state().source_url);
    }
    if (reloaded_.exchange(false)) notify_.ready(status_text());
    if (std::exchange(hangup_, false) || (watch_ && watch_->changed())) reload();
    const int64_t now = now_ns();
    const std::string source = session_.state().source_state;
    const bool news = std::exchange(source_state_, source) != source;
    if (news) session_.changed();  // a source that comes and goes wakes nobody by itself
    if (news || now - status_ns_ > kStatusNs) {
      status_ns_ = now;
      notify_.status(status_text());
    }
    const int64_t interval = notify_.watchdog_interval_ns();
    if (now - looked_ns_ >= (interval > 0 ? std::min(interval, kLookNs) : kLookNs)) {
      looked_ns_ = now;
      if (progress_.made(*pipeline)) progress_ns_ = now;
      session_.set_alive(now - progress_ns_ < kStuckNs);
    }
    if (interval > 0 && now - watchdog_ns_ >= interval && progress_ns_ > watchdog_ns_) {
      watchdog_ns_ = now;
      notify_.watchdog();
    }
  }

  /// The manager hears READY again when the reload is through, well or not.
  void reload() {
    notify_.reloading();
    session_.reload([this](const Answer&) {
      reloaded_ = true;
      bell_.ring();
    });
  }

  std::string status_text() const {
    const RunState s = session_.state();
    return fmt::format("{}: {}, frame {}, {:.1f} frames/s", s.source_name, s.source_state, s.frame, s.rate);
  }

  const CommandLine& line_;
  const Signals signals_;  // before any thread
  const Bell bell_;
  ServiceNotify notify_;
  std::atomic<bool> cancel_{false}, opened_{false}, quit_{false}, reloaded_{false};
  BackendChoice backend_;
  Session session_;
  std::optional<ConfigWatch> watch_;
  std::optional<ControlDesk> desk_;
  std::thread opening_;
  std::exception_ptr failure_;  // the opening thread's, until opened_
  Progress progress_;
  bool ending_ = false, asked_ = false, ready_ = false, hangup_ = false;
  std::string source_state_;
  int64_t status_ns_ = 0, watchdog_ns_ = 0, looked_ns_ = 0, progress_ns_ = 0;
};

}  // namespace

void run_serve(const CommandLine& line, const GraphDesc& graph) {
  Daemon(line, graph).run();
}

}  // namespace lensd
