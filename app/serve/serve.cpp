// lensd serve: the pipeline without a window, controlled by socket and HTTP.
//
// The main thread waits for signals and changed files. It starts reloads, notifies the service manager's
// watchdog while the pipeline makes progress, and ends the run. Other threads do all other work.

#include <fmt/format.h>
#include <poll.h>

#include <csignal>
#include <ctime>
#include <optional>

#include "app/output_files.hpp"
#include "app/reports.hpp"
#include "app/run.hpp"
#include "app/serve/camera_memory.hpp"
#include "app/serve/control_servers.hpp"
#include "app/serve/service_notify.hpp"
#include "app/serve/session.hpp"
#include "app/serve/signals.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/owned_work.hpp"
#include "core/base/wake_event.hpp"
#include "core/config/watch.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr int kPollMs = 250;
constexpr int64_t kStatusIntervalNs = 5'000'000'000;
constexpr int64_t kProgressIntervalNs = 1'000'000'000;
/// /healthz fails after this time without progress.
constexpr int64_t kStuckNs = 5'000'000'000;
/// Timeout of opening a pipe while another source plays, because later graph changes wait for it. Shorter
/// than the 10 s that `lensd ctl` waits for an answer.
constexpr int64_t kPipeOpenNs = 8'000'000'000;

/// Maximum time of a shutdown without progress (see Daemon::end_progress()), and in total. A shutdown usually
/// takes less than a second. It takes longer while a slow encoder has frames left, or while the end of a
/// recording is written to a slow disk. The units' TimeoutStopSec= is longer.
constexpr auto kEndTimeout = std::chrono::seconds(10), kEndLimit = std::chrono::seconds(60);
/// The process is busy if it uses this CPU time in this interval. Waiting threads use some milliseconds.
constexpr int64_t kBusyIntervalNs = 1'000'000'000, kBusyCpuNs = 100'000'000;

int64_t process_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

/// Checks that the pipeline's threads make progress. The decode thread may wait while playback is paused or
/// ended, while its queue is full, and when the whole file is decoded.
class Progress {
 public:
  /// Returns false if the pipeline has failed. Otherwise returns true if the threads made progress since the
  /// last call, or if `pipeline` is new. Wakes the process thread, so that its heartbeat advances before the
  /// next call even while paused.
  bool check(Pipeline& pipeline) {
    const PipelineStatus now = pipeline.status();
    const bool processing = &pipeline != seen_ || now.process_heartbeat != processed_;
    const bool waits = now.paused || now.ended || now.queue_full || now.all_decoded;
    const bool decoding = &pipeline != seen_ || now.decode_heartbeat != decoded_ || waits;
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
        backend_(choose_backend(line.config.backend, line.config.device)),
        virtual_camera_(make_virtual_camera(line)),
        session_(session_options(graph), registry()) {
    if (!line.layers.files.empty()) watch_.emplace(line.layers.files);
    servers_.emplace(session_, control_options(line, true));
    // Open on another thread: a network source may block, and signals must still be handled.
    opening_ = std::thread([this, graph] {
      try {
        session_.start(source_url(line_), graph);
      } catch (...) {
        failure_ = std::current_exception();
      }
      opened_ = true;
      wake_.set();
    });
  }

  ~Daemon() { shut_down(); }

  /// Serves until a signal or the command `quit`.
  void serve() {
    while (!ending_) wait_and_handle();
    notify_.stopping();
    if (const auto pipeline = session_.pipeline()) keep_controls(*pipeline, true);
    // After the command `quit`, ignore the first signal, because the service manager also sends TERM. The
    // next signal ends the process even if a recording is not complete.
    Signals::unblock(signalled_ ? 0 : 1);
  }

  /// Shuts down and writes the results. Call on any thread.
  void finish() {
    if (const auto pipeline = session_.pipeline()) pipeline->executor().use_device();
    shut_down();
    const auto pipeline = session_.pipeline();
    // Ignore the error if the shutdown cancelled the opening.
    if (failure_ && !shutdown_requested_) std::rethrow_exception(failure_);
    if (!pipeline) return;
    write_results(*pipeline);
    pipeline->check();
  }

  /// Returns a value that changes while finish() makes progress. It changes when a sink writes. It also
  /// changes while the processor is busy, because a sink writes nothing while its encoder ends. Does not
  /// block.
  uint64_t end_progress() {
    if (const int64_t now = now_ns(); now - end_checked_ns_ >= kBusyIntervalNs) {
      const int64_t cpu = process_cpu_ns();
      if (cpu - end_cpu_ns_ >= kBusyCpuNs) ++end_busy_;
      end_checked_ns_ = now, end_cpu_ns_ = cpu;
    }
    uint64_t value = end_busy_;
    if (const auto pipeline = session_.pipeline())
      for (const auto& sink : pipeline->sinks()) {
        const SinkStatus status = sink->status();
        value += static_cast<uint64_t>(status.frames + status.bytes);
      }
    if (std::exchange(end_progress_, value) != value) notify_.watchdog();
    return value;
  }

 private:
  void shut_down() {
    session_.stop_soon();
    if (opening_.joinable()) opening_.join();
    servers_.reset();
    session_.stop();
  }

  void write_results(Pipeline& pipeline) {
    check_result_files(line_);  // again, because other programs may have created files since
    write_reports(line_, pipeline, PipeReader::must_be_quick);
  }

  SessionOptions session_options(const GraphDesc& graph) {
    SessionOptions options;
    options.graph = graph;
    options.backend = backend_;
    options.virtual_camera = virtual_camera_;
    options.captures = line_.config.control_folder;
    options.layers = line_.layers, options.config = line_.config;
    options.open = [this](const std::string& url, const GraphDesc& wanted, const std::atomic<bool>& cancel) {
      return open(url, wanted, cancel);
    };
    if (!line_.record.empty())
      options.record = record_command(line_);
    else if (line_.config.record_on)
      options.record = StartRecord{};
    if (options.record) {
      options.record->keep_trying = true;
      if (line_.config.record_what == "source") options.record->what = StartRecord::What::source;
    }
    options.quit = [this] {
      quit_command_ = true;
      wake_.set();
    };
    return options;
  }

  std::unique_ptr<Pipeline> open(const std::string& url, const GraphDesc& graph,
                                 const std::atomic<bool>& cancel) {
    check_output_files(line_, {url});
    // 8 frames in addition to the sinks' frames: two in the queue, the newest one, and frames that are being
    // encoded for clients.
    PipelineOptions options = pipeline_options(line_, backend_.backend, 8);
    options.graph = graph;
    // --start and --pause are for the source of the command line, when it is opened first.
    const bool first = !session_.pipeline() && playable_url(url) == source_url(line_);
    options.paced = true, options.paused = first && line_.pause;
    options.on_change = [this] { session_.changed(); };
    SourceOptions source = source_options(line_, backend_.backend);
    source.cancel = &cancel;
    if (!first) source.start_ns = 0, source.start_share = 0, source.or_best_track = true;
    // No timeout for the first source: nothing else waits while it is opened.
    if (session_.pipeline()) source.pipe_open_ns = kPipeOpenNs;
    source.live.kept_controls = cameras_.kept();
    source.live.audio = live_audio(line_, url);
    auto opened = open_source(playable_url(url), source);
    if (const std::string text = playback_obstacle(line_, opened->info()); first && !text.empty())
      log::warn("{}", text);
    if (const std::string text = controls_obstacle(line_, url); first && !text.empty()) log::warn("{}", text);
    add_sinks(options, line_, opened->info(), make_recorder(line_, opened->info()), virtual_camera_);
    auto pipeline = std::make_unique<Pipeline>(std::move(opened), options, registry());
    if (line_.speed != 1) pipeline->post(SetSpeed{line_.speed});
    return pipeline;
  }

  void wait_and_handle() {
    pollfd fds[3] = {
        {signals_.fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}, {watch_ ? watch_->fd() : -1, POLLIN, 0}};
    int wait = kPollMs;
    if (opened_ && watch_ && watch_->wait_ms() >= 0) wait = std::min(wait, watch_->wait_ms());
    poll(fds, 3, wait);
    if (fds[1].revents) wake_.clear();
    if (watch_ && fds[2].revents) watch_->drain();
    for (int signal; (signal = signals_.take()) != 0;)
      if (signal == SIGHUP)
        reload_requested_ = true;
      else
        signalled_ = shutdown_requested_ = true;
    shutdown_requested_ = shutdown_requested_ || quit_command_;
    ending_ = ending_ || shutdown_requested_;
    if (!ending_ && opened_) supervise();
  }

  void supervise() {
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
    if (std::exchange(reload_requested_, false) || (watch_ && watch_->changed())) {
      notify_.reloading();  // once for each request, also for those that must wait
      reload_waits_ = true;
    }
    if (reload_waits_) try_reload();
    if (!reload_waits_ && running_reloads_ == 0 && reloaded_.exchange(false)) notify_.ready(status_text());
    keep_controls(*pipeline);
    const int64_t now = now_ns();
    const std::string source = session_.state().source_state;
    const bool changed = std::exchange(source_state_, source) != source;
    if (changed) session_.changed();  // the pipeline does not call on_change for a new source state
    if (changed || now - status_ns_ > kStatusIntervalNs) {
      status_ns_ = now;
      notify_.status(status_text());
    }
    const int64_t interval = notify_.watchdog_interval_ns();
    if (now - checked_ns_ >= (interval > 0 ? std::min(interval, kProgressIntervalNs) : kProgressIntervalNs)) {
      checked_ns_ = now;
      if (progress_.check(*pipeline) || completes_outputs(now)) progress_ns_ = now;
      // Sinks, sources and the sound add notices without on_change. Without clients, nothing else would log
      // them.
      session_.changed();
      session_.set_alive(now - progress_ns_ < kStuckNs);
    }
    if (interval > 0 && now - watchdog_ns_ >= interval && progress_ns_ > watchdog_ns_) {
      watchdog_ns_ = now;
      notify_.watchdog();
    }
  }

  /// Returns true while the outputs of a replaced source are being completed, for at most kEndLimit. The next
  /// source makes no progress during this time.
  bool completes_outputs(int64_t now) const {
    const int64_t since = session_.completing_since_ns();
    return since != 0 && now - since < std::chrono::nanoseconds(kEndLimit).count();
  }

  void keep_controls(Pipeline& pipeline, bool ending = false) {
    if (const auto controls = pipeline.source_controls(false)) cameras_.keep(*controls);
    cameras_.save(ending);
  }

  /// Starts the requested reload. While too many requests of clients are waiting, supervise() tries again.
  /// When all reloads have ended, successful or not, supervise() sends READY.
  void try_reload() {
    ++running_reloads_;
    reload_waits_ = !session_.try_reload([this](const Response&) {
      reloaded_ = true;
      --running_reloads_;
      wake_.set();
    });
    if (reload_waits_) --running_reloads_;
  }

  std::string status_text() const {
    const RunState s = session_.state();
    return fmt::format("{}: {}, frame {}, {:.1f} frames/s", s.source_name, s.source_state, s.frame_index,
                       s.rate);
  }

  const CommandLine line_;  // a copy, because finish() may outlive the caller's
  const Signals signals_;   // constructed before any thread that does not block all signals
  const WakeEvent wake_;
  ServiceNotify notify_;
  std::atomic<bool> opened_{false}, quit_command_{false}, reloaded_{false};
  std::atomic<int> running_reloads_{0};
  BackendChoice backend_;
  std::shared_ptr<VirtualCamera> virtual_camera_;
  CameraMemory cameras_{CameraMemory::default_path()};
  Session session_;
  std::optional<ConfigWatch> watch_;
  std::optional<ControlServers> servers_;
  std::thread opening_;
  std::exception_ptr failure_;  // error of opening_; valid once opened_ is set or opening_ is joined
  Progress progress_;
  bool ending_ = false, shutdown_requested_ = false, signalled_ = false;
  bool ready_ = false, reload_requested_ = false, reload_waits_ = false;
  std::string source_state_;
  uint64_t end_progress_ = 0, end_busy_ = 0;
  int64_t end_checked_ns_ = 0, end_cpu_ns_ = 0;
  int64_t status_ns_ = 0, watchdog_ns_ = 0, checked_ns_ = 0, progress_ns_ = 0;
};

}  // namespace

void run_serve(const CommandLine& line, const GraphDesc& graph) {
  const auto daemon = std::make_shared<Daemon>(line, graph);
  daemon->serve();
  // Recordings, snapshots, sources and results may be on a disk that does not answer.
  if (!run_owned_with_progress([daemon] { daemon->finish(); }, kEndTimeout, kEndLimit,
                               [&daemon] { return daemon->end_progress(); }))
    throw Error(
        ExitCode::runtime_failure, "shutdown",
        "no progress for 10 s, or not finished after 60 s: a disk, a device or an encoder does not answer or "
        "is too slow; the last frames of recordings may be missing");
}

}  // namespace lensd
