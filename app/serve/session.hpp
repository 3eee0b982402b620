// A controlled run: its current pipeline, source and configuration.
//
//   Commands (socket, HTTP) ──▶ Session ── post ──▶ Pipeline            parameters, playback: at once
//                                       ── transactions_ ──▶ sources, graphs, reloads: one after another
//                                       ── files_ ──▶ snapshots, traces, recordings
//   Pipeline::on_change ──▶ wake ──▶ pump() on the control thread ──▶ events, responses
//
// A source is opened and a graph is planned while the current pipeline runs. If that fails, the current
// pipeline keeps running. A load or reload cancels the opening of an earlier one. The members of
// ControlTarget are thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "app/serve/jobs.hpp"
#include "app/serve/output_folder.hpp"
#include "core/config/layers.hpp"
#include "core/control/control_target.hpp"
#include "core/control/events.hpp"
#include "core/device/backend.hpp"
#include "core/media/still.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {

struct SessionOptions {
  BackendChoice backend;
  /// Folder of snapshots, traces and, if [record] folder is empty, recordings. Empty: OutputFolder's default.
  std::string captures;
  std::optional<StartRecord> record;  ///< recording that starts with the first frame; unused with `load`
  std::shared_ptr<VirtualCamera> virtual_camera;  ///< shared by all pipelines of the run; may be null
  Layers layers;    ///< files, variables and options of the configuration, for reloads
  Config config;    ///< the configuration at the start
  GraphDesc graph;  ///< resolved graph that graph() returns until the first source is open
  /// Opens a source and returns its pipeline, not started yet. Throws Error, for example if `cancel` becomes
  /// true during the call. `cancel` outlives the pipeline. Must be thread-safe.
  std::function<std::unique_ptr<Pipeline>(const std::string& url, const GraphDesc& graph,
                                          const std::atomic<bool>& cancel)>
      open;
  /// Replaces `open` if another thread owns the pipelines. The owner calls attach(), takes the pipeline's
  /// frames and notices, and passes frames to set_newest_frame().
  std::function<void(std::string url, Reply reply)> load;
  std::function<void()> quit = [] {};
  /// How long graph changes and reloads wait for the pipeline. A pipeline that has stopped never replies.
  std::chrono::nanoseconds plan_timeout = std::chrono::seconds(30);
  /// How long the end of a recording waits for its file. Shorter than the 10 s of `lensd ctl`.
  std::chrono::nanoseconds record_timeout = std::chrono::seconds(8);
};

class Session final : public ControlTarget {
 public:
  Session(SessionOptions options, const Registry& registry);
  ~Session() override;

  /// Opens the first source and starts its pipeline. Blocks until the source is open. Throws Error.
  void start(const std::string& url, const GraphDesc& graph);
  /// Cancels sources that are being opened, and makes picture() return null within 20 ms, so that stopping
  /// waits neither for a source nor for an encoder. Call before the servers are destroyed. Thread-safe.
  void stop_soon() noexcept;
  /// Stops the pipeline and waits for running requests. Later commands are refused. Idempotent.
  void stop();

  /// Sets the controlled pipeline; only with SessionOptions::load.
  void attach(std::shared_ptr<Pipeline> pipeline, const std::string& url);
  /// Sets the frame for snapshots and streams; only with SessionOptions::load.
  void set_newest_frame(Frame frame);

  /// Sets the callback that requests a call of pump(). It is called from any thread. Call on_change() before
  /// start(), so that no change is missed.
  void on_change(std::function<void()> wake);
  /// Publishes events, logs notices and replies to graph requests. Call from the control thread only.
  void pump();

  /// Like reload(), but returns false, without a reply, if too many requests are waiting. Thread-safe.
  bool try_reload(const Reply& reply);

  /// Sends clients an event with a notice. Does not log it. Thread-safe.
  void send_notice(bool problem, const std::string& text);

  /// Returns the time at which a source was replaced, while its recording and streams are being completed;
  /// the next source starts afterwards. Otherwise returns 0. Thread-safe.
  int64_t completing_since_ns() const noexcept { return completing_since_ns_; }

  /// Sets RunState::alive. Thread-safe.
  void set_alive(bool alive) noexcept { alive_ = alive; }

  EventHub& hub() { return hub_; }
  /// Returns the current pipeline; null before the first source is open.
  std::shared_ptr<Pipeline> pipeline() const;
  /// Calls the callback of on_change(). For PipelineOptions::on_change. Thread-safe.
  void changed() const;

  const Registry& registry() const override { return registry_; }
  RunState state() const override;
  GraphState graph() const override;
  Measurements measurements() const override;
  std::shared_ptr<const SourceControls> source_controls() const override;
  bool post(Command command) override;
  void change_graph(Batch batch, Reply reply) override;
  void set_graph(GraphDesc graph, Reply reply) override;
  void edit_graph(GraphEdit edit, Reply reply) override;
  void load(std::string url, Reply reply) override;
  void reload(Reply reply) override;
  void snapshot(std::string path, Reply reply) override;
  void trace(std::string path, Reply reply) override;
  void record(bool on, StartRecord what, Reply reply) override;
  void virtual_camera(bool on, std::string name, Reply reply) override;
  void quit() override;
  std::shared_ptr<const EncodedPicture> picture(PictureType type, int64_t made_after_ns) override;

 private:
  /// A posted change that may not be applied yet.
  struct Pending {
    uint64_t ticket = 0;
    GraphChange change;
  };

  struct Encoder {
    explicit Encoder(StillEncoder::Type type) : still(type) {}
    std::mutex mutex;
    StillEncoder still;
  };
  struct EncodeJob;
  using OutcomeCallback = std::function<void(const PlanOutcome&)>;
  struct OpenRequest {
    OutcomeCallback callback;
    int64_t deadline_ns = std::numeric_limits<int64_t>::max();  ///< pump() refuses it later
    std::shared_ptr<CommandClaim> claim = {};  ///< claim of the changes; null: pump() never refuses them
    uint64_t ticket = 0;                       ///< ticket of the changes; 0: not posted by post_changes()
  };
  using Requests = std::map<uint64_t, OpenRequest>;
  using Flag = std::shared_ptr<std::atomic<bool>>;

  void keep_settings(Pipeline& next, const SetGraph& change) const;
  std::shared_ptr<Pipeline> open(const std::string& url, const GraphDesc& graph, const Flag& cancel);
  void open_and_start(const std::string& url, const SetGraph& change, const Flag& cancel);
  std::shared_ptr<Pipeline> swap_pipeline(std::shared_ptr<Pipeline> next, const std::string& url);
  Response load_now(const std::string& url, const SetGraph* change, const Flag& cancel);
  GraphState current_graph() const;
  std::shared_ptr<const GraphView> predict() const;
  Response post_edit(const GraphEdit& edit, SetGraph change, bool& posted);
  Response plan(const SetGraph& change);
  Response plan_edit(const GraphEdit& edit, SetGraph change = {});
  Response apply_config(const Layered& next, const Flag& cancel);
  Response reload_now(const Flag& cancel);
  Response start_recording(StartRecord what);
  void check_recording_path(const std::string& path) const;
  bool resume_recording(StartRecord earlier, bool kept);
  Response stop_recording();
  std::string write_capture(const std::string& name, std::string_view bytes, const std::string& kind);
  static void fail(const Requests& requests, const std::string& reason);
  void fail_overdue(const Pipeline& running, bool failed);
  void shut_down(Pipeline& pipeline);
  void publish_notice(bool problem, const std::string& text);
  void publish_source(const RunState& now);
  void warn_restart_keys(const Config& old, const Config& next);
  double frame_rate(uint64_t processed) const;
  Frame newest_frame();
  bool try_enqueue(Jobs& jobs, const std::shared_ptr<Reply>& reply, std::function<Response()> job);
  void enqueue(Jobs& jobs, Reply reply, std::function<Response()> job);
  bool try_enqueue_load(const std::shared_ptr<Reply>& reply, std::function<Response(const Flag&)> job);
  OutcomeCallback take_request(uint64_t request);
  Response post_changes(Batch batch, OutcomeCallback planned, bool& waits);

  const SessionOptions options_;
  const Registry& registry_;
  const OutputFolder captures_, recordings_;
  const int64_t started_ns_;
  EventHub hub_;

  mutable std::mutex mutex_;
  std::shared_ptr<Pipeline> pipeline_;
  uint64_t earlier_versions_ = 0;  ///< number of graph versions of earlier pipelines
  std::string url_;
  Config config_;
  Flag starting_, loading_;  ///< cancel start() and the newest load or reload; null once the source is open
  std::optional<StartRecord> record_;  ///< requested recording; it continues when the source changes
  mutable std::map<std::string, Pending> pending_;  ///< the last change of each value
  /// The pipeline's requested graph with the pending changes, and the view that it was made from.
  mutable GraphDesc predicted_;
  mutable std::shared_ptr<const GraphView> predicted_from_;
  Requests requests_;  ///< not answered yet
  uint64_t next_request_ = 1;
  mutable int64_t rate_ns_ = 0;
  mutable uint64_t rate_frames_ = 0;
  mutable double rate_ = 0;

  mutable std::mutex wake_mutex_;
  std::function<void()> wake_;

  std::mutex frame_mutex_;
  Frame newest_;  // kept for snapshots while playback is paused

  const std::shared_ptr<Encoder> png_ = std::make_shared<Encoder>(StillEncoder::Type::png);
  const std::shared_ptr<Encoder> jpeg_ = std::make_shared<Encoder>(StillEncoder::Type::jpeg);

  // Used by the control thread only.
  uint64_t seen_version_ = 0;
  std::string seen_source_;
  bool source_away_ = false;

  std::atomic<uint64_t> reloads_{0}, reloads_refused_{0}, graph_changes_{0}, errors_{0};
  std::atomic<bool> stopped_{false}, stopping_{false}, alive_{true};
  std::atomic<int64_t> completing_since_ns_{0};
  Jobs transactions_, files_;
};

}  // namespace lensd
