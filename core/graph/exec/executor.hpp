// Executors run a plan on one picture at a time.
//
//   Picture ──▶ run() ──▶ Frame            CPU: finished on return, row bands on the workers
//                                          CUDA: queued on return; Frame::ready() follows
//
// Call from the process thread only, except members marked thread-safe. After the first frames of a plan,
// run() does not allocate, lock, log or wait in a CUDA call. It blocks while readers hold all output frames.
// On CUDA it also blocks while `in_flight` frames are unfinished, and until the GPU has finished the previous
// frame in the same slot.
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
  bool host_frames = true;  ///< output frames are in host memory (files, PBO upload), else on the GPU
  int frames = 4;           ///< output frames in the pool
  /// CUDA: maximum number of unfinished frames, 1 to 8. With 3, one is uploaded, one computed and one copied
  /// back. A larger number only adds latency if the GPU is slower than the source.
  int in_flight = 3;
  size_t device_memory = 0;  ///< limit of the GPU memory of a plan, in bytes; 0: all free memory
  int timing_interval = 8;   ///< CUDA: kernels are timed on every n-th frame
};

struct NodeStatistics {
  std::string node;
  int64_t frame = 0;
  std::vector<Statistic> values;
};

/// A plan with its memory. On CUDA the destructor waits for queued work: do not destroy it on the process
/// thread.
class PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  std::unique_ptr<Plan> plan;
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Makes the executor's device the current one of the calling thread. Call it first on every thread that
  /// prepares plans, runs them or allocates pinned memory.
  virtual void use_device() {}
  /// Allocates a plan's memory and, on CUDA, captures its graphs while the current plan runs. Thread-safe.
  /// Throws DeviceMemoryError if there is not enough GPU memory, Error(runtime_failure) if there is not
  /// enough host memory.
  virtual std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) = 0;
  /// Makes run() use `plan` from now on, and stores the old plan in it, or null if there was none. Does not
  /// block. If it throws, for example a MemoryError, the old plan stays in use and `plan` keeps the new one.
  virtual void swap_in(std::unique_ptr<PreparedPlan>& plan) = 0;
  /// Prepares a plan and swaps it in. Blocks: use it for the first plan and for a new picture format only.
  void install(std::unique_ptr<Plan> plan) {
    auto prepared = prepare(std::move(plan));
    swap_in(prepared);
  }
  /// Returns the current plan; null before the first one.
  virtual Plan* plan() = 0;

  /// Waits until run() can start without waiting for unfinished frames. Call it before choosing the picture,
  /// so that the picture is not outdated when the GPU is behind.
  virtual void wait_for_room() {}
  /// Runs the plan on a picture of its format. May return an empty frame after close(). `again`: repeats
  /// the last run with the same picture and from the same filter state.
  virtual Frame run(const Picture& picture, bool again = false) = 0;
  /// Resets the filters' state before the next frame, for example after a seek or loop.
  virtual void reset_state() = 0;

  /// Returns the statistics of the newest finished frame. Thread-safe.
  virtual std::vector<NodeStatistics> statistics() const = 0;
  /// Copies a scope's counts of the newest finished frame. Returns false if the current plan has no such
  /// scope or has not finished a frame. Thread-safe.
  virtual bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const = 0;
  /// Makes run() return an empty frame instead of waiting for an output frame. On the CPU backend, run() then
  /// always returns an empty frame, even if it is already in progress. Thread-safe.
  virtual void close() = 0;
  /// Returns the bytes of GPU memory of the current plan's pictures and buffers; 0 on the CPU backend. Call
  /// on the process thread.
  virtual size_t device_bytes() const { return 0; }
  /// Returns the number of CUDA graphs captured so far. Changes of live parameters must not increase it.
  virtual int64_t captures() const { return 0; }
  /// Returns the synchronisation for readers of device frames; null on the CPU backend.
  virtual DeviceFrameSync* device_sync() { return nullptr; }
};

/// Throws Error(unavailable) if `backend` is CUDA and the build lacks CUDA or the device is not usable.
std::unique_ptr<Executor> make_executor(Backend backend, const ExecutorOptions& options, Profiler& profiler,
                                        Timeline& timeline);

}  // namespace lensd
