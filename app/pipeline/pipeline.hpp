// THE data flow: threads, queues, one function per stage.
//
//   decode thread    Source::next() ── Picture ──▶ pictures_             pipeline_decode.cpp
//                    (files: waits when full; live: the oldest goes)
//   process thread   commands_ at a frame boundary                       pipeline_commands.cpp
//                    → Executor::run() → pacing → publish                pipeline.cpp
//   planner thread   a changed graph is planned and allocated aside; the process thread
//                    takes it into use at the next frame boundary, so
//                    that no frame waits for it                          pipeline_plans.cpp
//   consumer         viewer: take_newest() on the UI thread, newest
//                    wins, never blocks the pipeline
//                    batch: next_frame() on the writer thread, every
//                    frame, in order
//   sinks            recordings, restreams: take() on the process
//                    thread shares the frame with a queue of theirs
//
// Only values cross threads: Commands in, Frames and PipelineStatus out. A failure on a thread is kept and
// rethrown by check(); the pipeline never switches the backend by itself.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "app/pipeline/frame_sink.hpp"
#include "core/base/bounded_queue.hpp"
#include "core/graph/exec/executor.hpp"
#include "core/media/source.hpp"
#include "core/pipeline/command.hpp"

namespace lensd {

struct PipelineOptions {
  Backend backend = Backend::cpu;
  ExecutorOptions executor;
  GraphDesc graph;
  bool paced = false;  ///< show frames at their time; else as fast as they go
  bool paused = false;
  bool loop_file = false;
  int64_t max_frames = 0;                         ///< 0: all
  std::vector<std::shared_ptr<FrameSink>> sinks;  ///< take every new frame, beside the consumer
  std::function<void()> on_frame = [] {};  ///< called by the process thread after a frame was published
  /// Called by the process thread after commands were applied, a plan was taken into use or refused, and when
  /// there is a notice. Must be quick and never wait.
  std::function<void()> on_change = [] {};
};

/// A node of the running plan, for people.
struct PlannedNode {
  std::string id, filter;
  ImageFormat output;
  bool automatic = false;
  bool scope = false;
};

/// The graph as it is now; a new object for every change.
struct GraphView {
  GraphDesc graph;
  GraphDesc wanted;   ///< as asked for; differs from `graph` while a plan is being made
  int64_t frame = 0;  ///< the first frame that is made with it
  std::vector<PlannedNode> planned;
  std::string summary;
  uint64_t version = 0;
};

struct PipelineStatus {
  int64_t frame_index = -1, position_ns = 0, frame_duration_ns = 0;
  uint64_t decoded = 0, processed = 0, late = 0, not_shown = 0;
  uint64_t applied = 0;                          ///< ticket of the last command that was applied
  uint64_t decode_turns = 0, process_turns = 0;  ///< signs of life: they grow while the threads are at work
  bool paused = false, ended = false, failed = false, bypass = false, loop_file = false;
  bool queue_full = false;  ///< the decoder waits for room
  double speed = 1;
  uint64_t edit_mark = 0;  ///< the newest EditMark that was reached
  bool planning = false;   ///< a plan is being made: graph() is not yet what was asked for
  uint64_t dropped = 0;    ///< live: replaced by newer pictures before the graph, here and in the source
  uint64_t skipped = 0;    ///< live: they passed by while paused
  uint64_t placeholders = 0, made_again = 0;  ///< of those decoded; held pictures with other parameters
  LiveStatus live;
};

struct PipelineNotice {
  bool problem = false;
  std::string text;
};

/// What became of a SetGraph that carried a request number.
struct PlanOutcome {
  uint64_t request = 0;
  std::string problem;  ///< empty: in use from `frame` on
  int64_t frame = 0;
};

class Pipeline {
 public:
  Pipeline(std::unique_ptr<Source> source, PipelineOptions options, const Registry& registry);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();
  /// Ends both threads; frames not taken yet are given up. Idempotent.
  void stop();

  /// Any thread. Applied at the next frame boundary. Waits while the queue is full.
  void post(Command command);
  /// As post(), without waiting: the command's ticket, or 0 when the queue is full or closed.
  uint64_t try_post(Command command);
  /// Makes the process thread take a turn, paused or not; any thread. See PipelineStatus::process_turns.
  void nudge();

  /// Newest published frame, or empty; older ones count as not shown. One consumer thread.
  Frame take_newest();
  /// The frame that take_newest() gave was not shown, since the display is hidden. The same thread.
  void passed_over() noexcept { count(not_shown_, not_shown_counter_); }
  /// The next frame in order; empty at the end, on failure and after stop(). One consumer thread.
  Frame next_frame();
  /// Makes next_frame() give what is there and then nothing, though the source goes on. Any thread.
  void end_early();

  /// Rethrows what ended a thread, if anything did.
  void check() const;

  PipelineStatus status() const;
  std::shared_ptr<const GraphView> graph() const;
  std::vector<PipelineNotice> take_notices();
  std::vector<PlanOutcome> take_outcomes();
  std::vector<NodeStatistics> statistics() const { return executor_->statistics(); }
  /// See Executor::read_scope(); scopes are asked for by SetScopes.
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const {
    return executor_->read_scope(scope, reading);
  }
  const SourceInfo& source() const { return source_info_; }
  std::string source_errors() const;
  const std::vector<std::shared_ptr<FrameSink>>& sinks() const { return options_.sinks; }

  Profiler& profiler() { return profiler_; }
  Timeline& timeline() { return timeline_; }
  Executor& executor() { return *executor_; }

 private:
  // decode thread
  void decode_loop();
  bool decode_one();
  struct Decoded;
  void hand_over(Decoded& next);
  void wait_for_seek_or_stop();

  // planner thread
  void planner_loop();

  // process thread
  void process_loop();
  void apply_commands();
  void apply(Command& command);
  void apply_changes(const std::vector<GraphChange>& changes);
  void apply_live(const std::vector<GraphChange>& changes);
  void apply_graph(const SetGraph& set);
  std::string replan(GraphDesc graph);
  void replan_or_notice(GraphDesc graph);
  void settle(const std::vector<uint64_t>& requests, const std::string& problem);
  int64_t next_frame_index() const;
  void swap_in_planned();
  void request_plan();
  void install_now(const PictureInfo& picture);
  void install_for_live(const PictureInfo& picture);
  void process(Picture picture);
  void rerun_current();
  bool stands_still() const { return paused_ || (source_ended_ && options_.paced); }
  void pace(FrameInfo& info);
  void wait_until_due(int64_t pts_ns);
  void rebase_clock(int64_t pts_ns);
  bool publish(Frame frame);
  void request_seek(int64_t position_ns);
  void end_of_stream();
  void publish_graph();
  void notice(bool problem, std::string text);

  void name_scopes();
  void count(std::atomic<uint64_t>& total, int counter) noexcept;

  uint64_t offer(Command& command);
  void guarded(void (Pipeline::*loop)());
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  std::unique_ptr<Source> source_;
  SourceInfo source_info_;
  PipelineOptions options_;
  const Registry& registry_;
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  int decode_scope_ = 0, decode_track_ = 0, decode_label_ = 0;
  int process_track_ = 0, run_label_ = 0, pace_label_ = 0;
  int waiting_counter_ = 0, finished_counter_ = 0, late_counter_ = 0, not_shown_counter_ = 0;
  int ahead_scope_ = -1, graph_scope_ = -1, pace_scope_ = -1;  // of a paced frame's latency

  struct Decoded {
    Picture picture;  ///< empty: the end of the stream
    uint32_t serial = 0;
  };
  struct PlanRequest {
    GraphDesc wanted;  ///< what the graph becomes
    PictureInfo picture;
    PlanExtras extras;
    bool bypass = false;
    std::string solo;
    std::vector<uint64_t> requests;          ///< of the SetGraphs that are part of it
    std::unique_ptr<PreparedPlan> old_plan;  ///< an old plan to free instead
  };
  struct Planned {
    std::unique_ptr<PreparedPlan> prepared;  ///< null: refused
    GraphDesc wanted;
    std::string problem;
    std::vector<uint64_t> requests;
  };
  struct Posted {
    Command command;
    uint64_t ticket = 0;
  };
  // One plan is in the making at most: the planner never waits to hand it over.
  BoundedQueue<PlanRequest> plan_requests_{8};
  BoundedQueue<Planned> planned_{2};
  BoundedQueue<Decoded> pictures_{4};
  BoundedQueue<Posted> commands_{1024};
  BoundedQueue<Frame> frames_{2};
  std::counting_semaphore<> command_signal_{0};

  // Seek requests, process → decode: the newest position and a count that tells them apart.
  std::atomic<int64_t> seek_ns_{0};
  std::atomic<uint32_t> seek_serial_{0};
  uint32_t decode_serial_ = 0;  // decode thread

  // Process thread's own.
  Picture current_picture_;
  GraphDesc graph_;   // as it runs
  GraphDesc wanted_;  // as asked for: differs from graph_ while a plan is being made
  PlanExtras extras_;
  std::vector<uint64_t> requests_;  // of SetGraphs that no plan request has taken along yet
  bool planning_ = false, plan_again_ = false;
  std::string solo_;
  bool paused_ = false, bypass_ = false, show_one_ = false, loop_file_ = false, source_ended_ = false;
  double speed_ = 1;
  int64_t clock_wall_ns_ = 0, clock_pts_ns_ = 0, step_frames_ = 0, loop_a_ns_ = -1, loop_b_ns_ = -1;
  bool clock_set_ = false;
  int64_t timed_from_ns_ = 0;  ///< what was decoded before has waited through a pause
  uint64_t graph_version_ = 0;

  std::atomic<int64_t> frame_index_{-1}, position_ns_{0}, frame_duration_ns_{0};
  std::atomic<uint64_t> decoded_{0}, processed_{0}, late_{0}, not_shown_{0}, dropped_{0};
  std::atomic<uint64_t> skipped_{0}, placeholders_{0}, made_again_{0};
  std::atomic<uint64_t> edit_mark_{0};
  std::atomic<bool> planning_now_{false};
  std::atomic<uint64_t> applied_{0}, decode_turns_{0}, process_turns_{0};
  std::atomic<bool> paused_now_{false}, ended_{false}, failed_{false}, stopping_{false}, bypass_now_{false},
      loop_now_{false};
  std::atomic<double> speed_now_{1};

  std::mutex post_mutex_;  // those who post, so that tickets and the queue have one order
  uint64_t posted_ = 0;

  mutable std::mutex mutex_;  // set-up and changes only: graph view, notices, failure, stream_errors
  std::shared_ptr<const GraphView> graph_view_;
  std::vector<PipelineNotice> notices_;
  std::vector<PlanOutcome> outcomes_;
  std::exception_ptr failure_;
  std::string stream_errors_;

  std::thread decode_thread_, planner_thread_, process_thread_;
};

}  // namespace lensd
