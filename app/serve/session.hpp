// A run that can be controlled: the pipeline at hand, its source, its configuration.
//
//   Commands (socket, HTTP) ──▶ Session ── post ──▶ Pipeline            parameters, playback: at once
//                                       ── jobs ──▶ open, plan, reload  one transaction after another
//                                       ── jobs ──▶ files               snapshots, traces
//   Pipeline::on_change ──▶ wake ──▶ pump() on the control thread ──▶ events, answers
//
// A source is opened and a configuration is planned aside while the old one goes on; what fails changes
// nothing. Members of ControlTarget may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/pipeline/pipeline.hpp"
#include "app/serve/jobs.hpp"
#include "core/config/layers.hpp"
#include "core/control/captures.hpp"
#include "core/control/events.hpp"
#include "core/control/target.hpp"
#include "core/device/backend.hpp"
#include "core/media/still.hpp"

namespace lensd {

struct SessionOptions {
  BackendChoice backend;
  std::string captures;               ///< folder for what control may write; empty: Captures' default
  std::optional<StartRecord> record;  ///< from the first frame on; not with `load`
  Layers layers;                      ///< where the configuration comes from, for reloads
  Config config;                      ///< as it was read at the start
  GraphDesc graph;                    ///< resolved; shown until the first source is there
  bool source_fixed = false;          ///< named on the command line: a reload leaves it alone
  /// Makes a pipeline that is not started yet. Throws Error. May be called on any thread.
  std::function<std::unique_ptr<Pipeline>(const std::string& url, const GraphDesc& graph)> open;
  /// Instead of `open`: another thread owns the pipelines and attach()es them. It also takes their frames,
  /// which it offer()s, and their notices.
  std::function<void(std::string url, Reply reply)> load;
  std::function<void()> quit = [] {};
};

class Session final : public ControlTarget {
 public:
  Session(SessionOptions options, const Registry& registry);
  ~Session() override;

  /// Opens the first source and starts. Throws Error.
  void start(const std::string& url, const GraphDesc& graph);
  /// Stops the pipeline; commands are refused from now on. Idempotent.
  void stop();

  /// With SessionOptions::load: the pipeline from now on, and the frame that it shows.
  void attach(std::shared_ptr<Pipeline> pipeline, const std::string& url);
  void offer(Frame frame);

  /// Called, from any thread, when pump() has something to do. Set before start().
  void on_change(std::function<void()> wake);
  /// Turns what happened into events, log lines and answers. The control thread.
  void pump();

  /// Whether the pipeline makes progress, as its watchdog sees it; any thread.
  void set_alive(bool alive) noexcept { alive_ = alive; }

  EventHub& hub() { return hub_; }
  std::shared_ptr<Pipeline> pipeline() const;
  /// For the pipelines that are made: wakes pump().
  void changed() const;

  const Registry& registry() const override { return registry_; }
  RunState state() const override;
  GraphState graph() const override;
  std::vector<PassStats> timings() const override;
  std::vector<Profiler::Histogram> histograms() const override;
  std::vector<NodeStatistics> statistics() const override;
  bool post(Command command) override;
  void set_graph(GraphDesc graph, Reply reply) override;
  void load(std::string url, Reply reply) override;
  void reload(Reply reply) override;
  void snapshot(std::string path, Reply reply) override;
  void trace(std::string path, Reply reply) override;
  void record(bool on, StartRecord what, Reply reply) override;
  void quit() override;
  std::shared_ptr<const EncodedPicture> picture(PictureType type, int64_t made_after_ns) override;

 private:
  /// Changes that were posted and perhaps not applied yet.
  struct Pending {
    uint64_t ticket = 0;
    std::vector<std::variant<SetParam, SetEnabled>> changes;
  };

  struct Encoder {
    std::mutex mutex;
    StillEncoder still;
  };

  void replace(const std::string& url, const GraphDesc& graph);
  std::shared_ptr<Pipeline> exchange(std::shared_ptr<Pipeline> fresh, const std::string& url);
  Answer open_elsewhere(const std::string& url, const GraphDesc* graph);
  Answer plan(const GraphDesc& graph);
  Answer reload_now();
  Answer record_now(StartRecord what);
  Answer stop_recording();
  void end(Pipeline& pipeline);
  void tell(const PipelineNotice& notice);
  void tell_restart_keys(const Config& next);
  Frame newest_frame();
  void enqueue(Jobs& jobs, Reply reply, std::function<Answer()> job);
  void forget_requests(const std::string& why);

  const SessionOptions options_;
  const Registry& registry_;
  const Captures captures_, recordings_;
  const int64_t started_ns_;
  EventHub hub_;

  mutable std::mutex mutex_;
  std::shared_ptr<Pipeline> pipeline_;
  std::string url_;
  Config config_;
  std::optional<StartRecord> record_;  ///< goes on with the next source
  mutable std::vector<Pending> pending_;
  std::map<uint64_t, std::function<void(const PlanOutcome&)>> requests_;
  uint64_t next_request_ = 1;
  mutable int64_t rate_ns_ = 0;
  mutable uint64_t rate_frames_ = 0;
  mutable double rate_ = 0;

  mutable std::mutex wake_mutex_;
  std::function<void()> wake_;

  std::mutex frame_mutex_;
  Frame newest_;  // held so that a snapshot is to be had while nothing moves

  Encoder png_{{}, StillEncoder(StillEncoder::Type::png)}, jpeg_{{}, StillEncoder(StillEncoder::Type::jpeg)};

  // The control thread's own.
  uint64_t seen_version_ = 0;
  std::string seen_source_;
  bool told_away_ = false;

  std::atomic<uint64_t> reloads_{0}, reloads_refused_{0}, graph_changes_{0}, errors_{0};
  std::atomic<bool> stopped_{false}, alive_{true};
  Jobs transactions_, files_;
};

}  // namespace lensd
