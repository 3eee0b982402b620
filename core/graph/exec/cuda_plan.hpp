// A plan on the GPU: its memory, a slot for each output frame in rotation, and its passes as CUDA graphs.
//
//   Plan ── make_cuda_plan() ──▶ CudaPlan ── capture() ──▶ two graphs in each slot, plain and timed
//                                         ── launch_passes() ──▶ a stream, or a graph that is being captured
//
// Made and captured on any thread, then used by the process thread. Included by core/graph/cuda_*.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/exec/bound_nodes.hpp"
#include "core/graph/exec/cuda_slot.hpp"
#include "core/graph/exec/executor.hpp"

namespace lensd {

struct PassIndex {
  size_t step = 0;
  size_t pass = 0;
};

struct CudaPlan final : PreparedPlan {
  /// The plan's last work on the GPU may still be running: memory and graphs go after it.
  ~CudaPlan() override {
    if (used) cudaEventSynchronize(last_use.get());
  }
  std::shared_ptr<FramePool> pool;
  std::vector<std::unique_ptr<CudaSlot>> slots;
  std::vector<BoundNode> steps;
  std::vector<PassIndex> order;  ///< all passes as they are launched
  size_t early = 0;              ///< the first of `order` that read the picture
  MemoryBlock arena, state, stats;
  std::shared_ptr<StatsBuffer> finished_stats;
  cuda::Event last_use;
  bool used = false;
};

/// Allocates all of a plan's memory; no graph is captured yet.
std::unique_ptr<CudaPlan> make_cuda_plan(std::unique_ptr<Plan> plan, const ExecutorOptions& options,
                                         Profiler& profiler, Timeline& timeline);

/// Points the plan's passes at what lies in the slot.
void point_at_slot(CudaPlan& plan, const CudaSlot& slot, const PictureRef& planes);

/// Events around passes: none, recorded as any other, or nodes of a graph that is being captured.
enum class Marks { none, ordinary, external };

/// Passes `first` up to `last` of the launch order, with marks before the first and after each.
void launch_passes(CudaPlan& plan, CudaSlot& slot, size_t first, size_t last, Marks marks,
                   const cuda::Stream& stream);

/// Captures the plan's passes in every slot for pictures of this shape; `source_inside` as in CapturedPlan.
/// Leaves the passes pointing at the last slot. How many graphs there are more.
int capture(CudaPlan& plan, const PictureInfo& info, bool bottom_up, bool source_inside,
            const cuda::Stream& stream);

}  // namespace lensd
