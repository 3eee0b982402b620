// Executors: run a plan, one picture at a time.
//
//   Picture ──▶ run() ──▶ Frame            CPU: finished on return, row bands on the workers
//                                          CUDA: queued on return; Frame::ready() follows
//
// An executor belongs to the process thread, but for the members marked "any thread". run() allocates, locks,
// logs nothing after the first frames of a plan and never waits for the GPU by a CUDA call; when all output
// frames are in other hands it waits for one to come back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/exec/device_frame_sync.hpp"
#include "core/graph/plan.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

struct ExecutorOptions {
  int threads = 0;          ///< CPU workers; 0: one per core
  int device = 0;           ///< CUDA device
  bool host_frames = true;  ///< output frames in host memory (files, upload path) or on the GPU (interop)
  int frames = 4;           ///< output frames in rotation
  int timing_interval = 8;  ///< CUDA: kernels are timed on every n-th frame; 1: on each
};

struct NodeStatistics {
  std::string node;
  int64_t frame = 0;
  std::vector<Statistic> values;
};

/// A plan with its memory, ready to be taken into use; or one that was in use. Destroying it frees the
/// memory, which on the GPU waits for what is queued: let another thread than the process thread do it.
class PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  std::unique_ptr<Plan> plan;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Backend backend() const = 0;

  /// Allocates a plan's memory; any thread, while the plan in use goes on running. Throws
  /// Error(runtime_failure) when there is not enough.
  virtual std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) = 0;
  /// Takes a prepared plan into use from the next run() on, without waiting; gives back the one before it, or
  /// null.
  virtual std::unique_ptr<PreparedPlan> swap_in(std::unique_ptr<PreparedPlan> prepared) = 0;
  /// Both at once, for the first plan and for changes of the source's format.
  void install(std::unique_ptr<Plan> plan) { swap_in(prepare(std::move(plan))); }
  /// The plan in use; null before the first one.
  virtual Plan* plan() = 0;

  /// Runs the plan on a picture that fits it. Empty once close() was called. `again`: it is the picture of
  /// the last run, so that filters start from the same past as then.
  virtual Frame run(const Picture& picture, bool again = false) = 0;
  /// What filters keep from frame to frame does not belong to the next frame: seek, cut, new source.
  virtual void reset_state() = 0;

  /// Statistics of the newest frame whose passes have finished; any thread.
  virtual std::vector<NodeStatistics> statistics() const = 0;
  /// Copies the newest finished counts of a scope; false when the plan in use has no such scope or no frame
  /// of it has finished. Any thread.
  virtual bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const = 0;
  /// Makes a waiting run() return empty; any thread.
  virtual void close() = 0;
  /// CUDA graphs captured so far; tuning must not add to it.
  virtual int64_t captures() const { return 0; }
  /// For readers of device frames; null on the CPU.
  virtual DeviceFrameSync* device_sync() { return nullptr; }
};

std::unique_ptr<Executor> make_cpu_executor(const ExecutorOptions& options, Profiler& profiler,
                                            Timeline& timeline);
/// Throws Error(unavailable) in builds without CUDA and when the device does not answer.
std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions& options, Profiler& profiler,
                                             Timeline& timeline);
std::unique_ptr<Executor> make_executor(Backend backend, const ExecutorOptions& options, Profiler& profiler,
                                        Timeline& timeline);

}  // namespace lensd
