// A plan on the GPU: its memory, a slot for each output frame, and its passes as CUDA graphs.
//
//   Plan ── make_cuda_plan() ──▶ CudaPlan ── capture() ──▶ two graphs in each slot, plain and timed
//                                         ── launch_passes() ──▶ work on a stream, or in the captured graph
//
// Created and captured on any thread, then owned by the process thread. Included by cuda_*.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/exec/bound_plan.hpp"
#include "core/graph/exec/cuda_slot.hpp"
#include "core/graph/exec/old_frame_pools.hpp"

namespace lensd {

struct PassIndex {
  size_t node = 0, pass = 0;
};

struct CudaPlan final : BoundPlan {
  /// Waits until the GPU has finished the plan's last work, which uses the plan's memory and graphs.
  ~CudaPlan() override {
    if (used) cudaEventSynchronize(last_use.get());
  }
  std::vector<std::unique_ptr<CudaBuffers>> buffers;
  std::vector<std::unique_ptr<CudaSlot>> slots;
  std::vector<PassIndex> order;  ///< all passes in launch order
  size_t picture_passes = 0;     ///< number of passes at the start of `order` that read the picture
  MemoryBlock stats;
  size_t device_bytes = 0;  ///< see device_bytes()
  cuda::Event last_use;
  bool used = false;
};

/// Returns the bytes of device memory that a plan needs, without the memory of the CUDA graphs and the
/// context.
size_t device_bytes(const Plan& plan, const ExecutorOptions& options);

/// Allocates a plan's memory. Does not capture graphs. If memory is short, makes `old_pools` free its pools.
/// Throws DeviceMemoryError if there is still not enough GPU memory.
std::unique_ptr<CudaPlan> make_cuda_plan(std::unique_ptr<Plan> plan, const ExecutorOptions& options,
                                         Profiler& profiler, Timeline& timeline, OldFramePools& old_pools);

/// Sets the arguments of the plan's passes to the slot's memory.
void bind_slot(CudaPlan& plan, const CudaSlot& slot, const PictureRef& planes);

/// How events around passes are recorded: not at all, on the stream, or as event nodes of a captured graph.
enum class Marks { none, ordinary, external };

/// Launches passes [first, last) of the launch order. Records marks before the first and after each pass.
void launch_passes(CudaPlan& plan, CudaSlot& slot, size_t first, size_t last, Marks marks,
                   const cuda::Stream& stream);

/// Captures two graphs per slot for pictures of this layout; see CapturedPlan for the flags. Leaves the
/// passes bound to the last slot. Returns the number of captured graphs.
int capture(CudaPlan& plan, const PictureInfo& info, bool bottom_up, bool source_inside,
            const cuda::Stream& stream);

}  // namespace lensd
