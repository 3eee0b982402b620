// Processes the pictures of a source: three threads, and the queues between them.
//
//   decode thread    Source::next() ── Picture ──▶ pictures_           pipeline_decode.cpp
//                    (files: waits while the queue is full; live: drops older pictures; while a sink wants
//                    every frame, only if they are more than 250 ms late or the queue is full)
//   process thread   commands_ at a frame boundary                     pipeline_commands.cpp
//                    → Executor::run() → wait until due → publish      pipeline.cpp
//   planner thread   prepares the plan of a changed graph while the    pipeline_plans.cpp
//                    process thread runs the old one; the process
//                    thread swaps plans at a frame boundary
//   consumer         viewer: take_newest() on the UI thread; only the newest frame is shown
//                    batch: next_frame() on the writer thread; every frame, in order
//   sinks            such as recordings: take() on the process thread adds the frame to the sink's queue
//
// Threads exchange only values: Commands in, Frames and PipelineStatus out. check() rethrows an exception
// that ended a thread. The backend does not change after the constructor.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/pipeline/frame_sink.hpp"
#include "app/pipeline/playback_clock.hpp"
#include "app/pipeline/sound_sync.hpp"
#include "core/base/bounded_queue.hpp"
#include "core/base/semaphore.hpp"
#include "core/base/seq_lock.hpp"
#include "core/graph/exec/executor.hpp"
#include "core/media/source.hpp"
#include "core/pipeline/command.hpp"

namespace lensd {

struct PipelineOptions {
  Backend backend = Backend::cpu;
  bool cpu_if_memory_short = false;  ///< use the CPU if the first graph does not fit in GPU memory
  ExecutorOptions executor;
  GraphDesc graph;
  Precision precision = Precision::automatic;
  ColourSettings colour = {};
  bool paced = false;  ///< true: publish frames when they are due; false: as fast as possible
  bool paused = false;
  bool loop_file = false;
  int64_t max_frames = 0;  ///< number of frames to process, without placeholders; 0: all
  std::vector<std::shared_ptr<FrameSink>> sinks;  ///< receive every new frame, in addition to the consumer
  std::shared_ptr<PlaybackSound> sound;           ///< sound of a paced source; null: no sound
  /// Called by the process thread after it has published a frame or reached the end. After a failure, also
  /// called by each thread that ends.
  std::function<void()> on_frame = [] {};
  /// Called by the process thread after it has applied commands, swapped in or refused a plan, or added a
  /// notice. The constructor also calls it for a notice. Must not block.
  std::function<void()> on_change = [] {};
};

class Pipeline {
 public:
  /// Throws Error(invalid_config) if the graph does not fit the source; a live source is shown without the
  /// graph instead. Also throws the errors of make_executor() and Executor::prepare().
  Pipeline(std::unique_ptr<Source> source, PipelineOptions options, const Registry& registry);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Starts the threads. Returns false if one cannot be started; the run then fails, see check().
  bool start();
  /// Ends all threads and waits for them. Does not process the pictures that are still queued. Idempotent.
  void stop();

  /// Queues a command, to be applied at the next frame boundary. Returns its ticket (ProcessStatus::applied),
  /// or 0 after stop(). Thread-safe. Waits while the queue is full.
  uint64_t post(Command command);
  /// Queues a command. Returns its ticket, or 0 if the queue is full or closed. Thread-safe. Does not block.
  uint64_t try_post(Command command);
  /// Wakes the process thread, even while paused; see ProcessStatus::process_heartbeat. Thread-safe.
  void wake();

  /// Returns the newest published frame, or an empty frame. Counts older ones as not shown. Call from the
  /// consumer thread only. Does not block.
  Frame take_newest();
  /// Counts one frame as not shown. Call for a frame of take_newest() if the display is hidden. Thread-safe.
  void count_not_shown() noexcept;
  /// Waits for the next frame in order. At the end, on failure and after stop(), returns the frames that are
  /// still queued, then an empty frame. Call from the consumer thread only.
  Frame next_frame();
  /// Makes next_frame() return the frames that are queued already, then an empty frame. Thread-safe.
  void end_early();

  /// Rethrows the exception that ended a thread, or that prevented its start, if any.
  void check() const;

  // Thread-safe. These functions do not wait for the process thread.
  PipelineStatus status() const;
  std::shared_ptr<const GraphView> graph() const;
  std::vector<Notice> take_notices();
  std::vector<PlanOutcome> take_outcomes();
  std::vector<NodeStatistics> statistics() const { return executor_->statistics(); }
  /// See Executor::read_scope(); SetScopes requests scopes.
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const {
    return executor_->read_scope(scope, reading);
  }
  const SourceInfo& source() const { return source_info_; }
  std::string source_errors() const;
  /// See Source::controls(); SetSourceControls changes them.
  std::shared_ptr<const SourceControls> source_controls(bool keep_fresh) const {
    return source_->controls(keep_fresh);
  }
  const std::vector<std::shared_ptr<FrameSink>>& sinks() const { return options_.sinks; }

  Profiler& profiler() { return profiler_; }
  Timeline& timeline() { return timeline_; }
  Executor& executor() { return *executor_; }

  /// Returns `chosen`, or the CPU if the first graph did not fit in GPU memory. Thread-safe.
  BackendChoice backend(const BackendChoice& chosen) const;

 private:
  struct DecodedPicture {
    Picture picture;        ///< empty at the end of the stream
    uint32_t serial = 0;    ///< value of seek_serial_ when it was decoded
    int64_t queued_ns = 0;  ///< time when it was queued
  };
  /// A command that needs a plan.
  struct PlannedCommand {
    uint64_t request = 0;                 ///< SetGraph::request; 0: nobody waits for the outcome
    std::shared_ptr<CommandClaim> claim;  ///< may be null
    ControlValues controls;               ///< SetGraph::controls
    bool bypass = false;                  ///< it sets SetGraph::bypass
  };
  struct PlanRequest {
    GraphDesc graph;
    PictureInfo picture;
    PlanExtras extras;
    bool bypass = false;
    std::string solo;
    std::unique_ptr<PreparedPlan> old_plan;  ///< not null: the planner only frees this plan
  };
  struct PlanResult {
    std::unique_ptr<PreparedPlan> prepared;  ///< null if the plan was refused
    GraphDesc graph;
    PictureInfo picture;
    bool bypass = false, no_memory = false;
    Precision precision = Precision::automatic;
    ColourSettings colour;
    std::string problem;
  };
  /// The reasons for a plan.
  struct PlanReasons {
    bool graph = false;  ///< the graph, the precision or the colours: kept only if the plan is not refused
    bool views = false;  ///< bypass, solo, scopes or viewed nodes: planned again if the graph is refused
  };
  struct QueuedCommand {
    Command command;
    uint64_t ticket = 0;
  };

  // decode thread
  void decode_loop();
  bool decode_one();
  void enqueue(DecodedPicture& next);
  size_t kept_pictures(const PictureRef& next, bool paused) const;
  void wait_for_seek_or_stop();

  // planner thread
  void planner_loop();

  // process thread: commands
  void apply_commands();
  void apply(const Command& command);
  void apply_changes(const Batch& batch);
  bool apply_live(const std::vector<GraphChange>& changes);
  void set_source_controls(const Command& command);
  void set_file_loop(bool on);
  void apply_pause(bool paused);
  void apply_step(int frames);
  void request_seek(int64_t position_ns, int back = 0);
  // process thread: plans
  void replan(const SetGraph& command, bool views_only = false);
  void follow_rename(const GraphDesc& requested);
  PlanExtras extras() const;
  void request_plan();
  bool swap_in_planned();
  bool swap_in(PlanResult& result);
  void install_first();
  void install(const PictureInfo& picture);
  void install_plan(std::unique_ptr<Plan> plan);
  void install_source(const PictureInfo& picture);
  bool follow_format(const PictureInfo& format);
  void refuse(PlanResult& result);
  void wait_for_memory(const std::string& problem);
  void retry_graph();
  std::string misfit_problem() const;
  void keep_running_plan();
  void drop_requested();
  void free_later(std::unique_ptr<PreparedPlan> plan);
  static bool sets_bypass(const std::vector<PlannedCommand>& commands);
  static bool take(const std::vector<PlannedCommand>& commands);
  void finish_commands(std::vector<PlannedCommand>& commands, const std::string& problem);
  void report_outcomes(const std::vector<PlannedCommand>& commands, const std::string& problem);
  int64_t next_frame_index() const;
  void publish_graph();
  // process thread: frames
  void process_loop();
  bool too_late(const DecodedPicture& next);
  void process(Picture picture);
  void follow_connection(const FrameInfo& next);
  using SinkChoice = bool (FrameSink::*)() const noexcept;
  void pass_to_sinks(const Frame& frame, SinkChoice chosen = nullptr);
  void pass_again(SinkChoice chosen, std::optional<int64_t> rest_ns = std::nullopt);
  void record_shown();
  void end_recorded_picture();
  void supply_sinks();
  Frame run_current_picture(bool again);
  void rerun_current();
  // process thread: waits
  void pace(FrameInfo& info);
  void wait_until_due(int64_t pts_ns);
  void wait_for_sound(int64_t due_ns);
  bool stay(int64_t next_ns);
  bool show_last_frame(bool whole_sound);
  void wait_in_picture(int64_t wait_ns, int64_t end_ns);
  int64_t long_rest_ns() const;
  void follow_a_b_loop();
  /// Returns false for a still image, because it has nothing to loop.
  bool can_loop() const { return source_info_.seekable && !source_info_.image; }
  bool loops_a_b() const {
    return can_loop() && state_.loop_a_ns >= 0 && state_.loop_b_ns > state_.loop_a_ns;
  }
  /// Returns true if playback starts over at the end.
  bool loops_file() const { return can_loop() && state_.loop_file; }
  void rerun_if_outdated();
  /// Marks the current picture as outdated. Processes it again at once if no other picture follows soon.
  void graph_changed() {
    outdated_ = true;
    if (idle()) rerun_current();
  }
  void publish(Frame frame);
  /// Call once after each new picture. Returns true after the last one that options_.max_frames allows.
  bool at_frame_limit() {
    if (!current_picture_.info.placeholder) ++counted_frames_;
    return options_.max_frames > 0 && counted_frames_ >= options_.max_frames;
  }
  void end_of_stream();
  void end_run();
  /// Returns true while no other picture follows soon: playback is paused, shows a long picture or the last
  /// one, or has ended in a paced run. Graph changes then rerun the current picture.
  bool idle() const { return state_.paused || stays_ || (state_.ended && options_.paced); }
  void notice(bool problem, std::string text);
  void publish_status();
  void set_problem(std::string& place, std::string problem);
  std::string source_problem() const;

  void register_scopes();
  uint64_t try_enqueue(Command& command);
  void run_guarded(void (Pipeline::*loop)());
  void keep_failure();
  void end_after_failure();
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  std::unique_ptr<Source> source_;
  SourceInfo source_info_;
  PipelineOptions options_;
  const Registry& registry_;
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  std::string backend_problem_;  ///< why the CPU runs the graph although CUDA was chosen; empty: it does not
  int decode_track_ = 0, decode_label_ = 0;
  int process_track_ = 0, run_label_ = 0, pace_label_ = 0;
  /// The process thread has waited for a picture since this time; 0: it does not wait.
  std::atomic<int64_t> waits_since_ns_{0};
  int waiting_counter_ = 0, finished_counter_ = 0, late_counter_ = 0, not_shown_counter_ = 0;
  Profiler::Scope decode_scope_;
  Profiler::Scope ahead_scope_, graph_scope_, pace_scope_;  // latency scopes of a paced frame

  /// Files: capacity of pictures_. Live: maximum number of waiting pictures that are large or in GPU memory.
  static constexpr size_t kQueuedPictures = 4;

  // At most one plan is in preparation, so the planner never blocks on plan_results_.
  BoundedQueue<PlanRequest> plan_requests_{8};
  BoundedQueue<PlanResult> plan_results_{2};
  BoundedQueue<DecodedPicture> pictures_;
  BoundedQueue<QueuedCommand> commands_{1024};
  BoundedQueue<Frame> frames_{2};
  Semaphore command_signal_;

  // Seek requests from process to decode thread: newest arguments of Source::seek(), and number of requests.
  std::atomic<int64_t> seek_ns_{0};
  std::atomic<int> seek_back_{0};
  std::atomic<uint32_t> seek_serial_{0};
  uint32_t decode_serial_ = 0;  // used by the decode thread only

  // Owned by the process thread.
  ProcessStatus state_;
  std::optional<DecodedPicture> next_;  // next picture, not processed while a long picture is shown
  Picture current_picture_;
  int64_t graph_ns_ = 0;  // time that the graph took for the last new picture
  int64_t shown_ns_ = 0;  // timestamp of the shown picture; ProcessStatus::position_ns may be later
  GraphDesc graph_;       // the running graph
  GraphDesc requested_;   // the requested graph; differs from graph_ while a plan is being prepared
  PlanExtras extras_;
  std::string solo_;
  Precision running_precision_ = Precision::automatic;  // requested precision of the running plan
  ColourSettings running_colour_;                       // requested settings of the running plan
  std::vector<PlannedCommand> planning_;                // commands of the plan that is in preparation
  std::vector<PlannedCommand> unplanned_;               // commands that no PlanRequest includes yet
  std::vector<std::vector<GraphChange>> live_changes_;  // applied since that plan was requested
  PlanReasons planning_reasons_;                        // reasons of the plan that is in preparation
  PlanReasons unplanned_reasons_;                       // reasons of the next PlanRequest
  bool plan_obsolete_ = false;                          // the plan that is in preparation must not be used
  bool plan_again_ = false;      // requested_ changed since the last PlanRequest, or is tried again
  bool running_bypass_ = false;  // requested bypass of the running plan
  bool shows_source_ = false;    // the running plan is without the graph
  bool graph_waits_ = false;     // live: there was not enough memory for the graph
  std::optional<PictureInfo> refused_format_;  // live: there was not enough memory to show it
  bool run_failed_ = false;                    // live: there was not enough memory for the last frame
  int64_t retry_ns_ = 0;                       // time of the next attempt with the graph or the format
  bool show_one_ = false;                      // process one picture although paused
  bool stays_ = false;                         // true while stay() or show_last_frame() waits
  bool burst_ = false;                         // live: the current picture waited, or others wait
  bool others_wait_ = false;                   // live: pictures waited behind the newest taken one
  bool outdated_ = false;   // the graph has changed since the current picture was processed
  bool passed_on_ = false;  // the current picture was passed to the sinks
  PlaybackClock clock_;
  SoundSync sound_;
  int64_t step_frames_ = 0;
  int64_t counted_frames_ = 0;             // new pictures, without placeholders
  int64_t farthest_ns_ = 0;                // latest timestamp of a processed picture
  std::optional<int64_t> seek_target_ns_;  // target of a seek whose picture is not processed yet
  bool loop_armed_ = true;                 // playback that reaches B returns to A; see follow_a_b_loop()
  int64_t timed_from_ns_ = 0;  // do not measure earlier pictures: their latency would include a pause
  uint64_t graph_version_ = 0;
  double announced_rate_ = 0;  // last rate passed to the sinks; 0: none

  SeqLock<ProcessStatus> status_;
  std::atomic<uint64_t> decoded_{0}, dropped_{0}, skipped_{0}, placeholders_{0}, decode_heartbeat_{0};
  std::atomic<uint64_t> not_shown_{0};  // written by the process thread and the consumer
  std::atomic<bool> failed_{false}, stopping_{false}, all_decoded_{false};

  std::mutex post_mutex_;  // keeps tickets in the order of commands
  uint64_t posted_ = 0;

  NoticeList notices_;
  mutable std::mutex mutex_;  // protects graph view, outcomes, failure, messages; not locked per frame
  std::shared_ptr<const GraphView> graph_view_;
  std::vector<PlanOutcome> outcomes_;
  std::exception_ptr failure_;
  std::string stream_errors_;
  std::string graph_problem_;    // why the source is shown without the graph; empty if the graph runs
  std::string picture_problem_;  // live: why pictures are not shown; empty: they are

  std::thread decode_thread_, planner_thread_, process_thread_;
};

}  // namespace lensd
