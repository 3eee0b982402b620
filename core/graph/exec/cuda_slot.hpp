// What the CUDA executor keeps for each output frame in rotation. Included by core/graph/cuda_*.cpp only.
#pragma once

#include <atomic>
#include <vector>

#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "core/graph/exec/stats_board.hpp"
#include "core/graph/filter.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

/// The order between the executor and the readers of one output frame. Lives with the frame's pool, so that a
/// reader may hold a frame across a change of plan.
struct SlotSync {
  cuda::Event computed, read;
  bool was_read = false;          ///< `read` was recorded since the frame was last written
  std::atomic<uint32_t> busy{0};  ///< 1 from queueing until the GPU has finished with the slot
  int64_t finished_ns = 0;        ///< host time when it had; written before `busy` goes to 0
};

/// The order of all output frames of a pool, which is attached to it.
using SyncSet = std::vector<SlotSync>;

/// Events of one timed frame, read when a later frame comes by.
struct SlotTiming {
  cuda::Event upload_begin{cuda::Timing::on}, upload_end{cuda::Timing::on};
  std::vector<cuda::Event> marks;  ///< before the first pass and after each one
  bool pending = false;
  int64_t frame = 0;
  int64_t asked_ns = 0;  ///< host time just before `upload_begin` was recorded
};

/// The plan's kernels for one slot as CUDA graphs: one plain, one with events around each pass. Both are
/// valid for pictures of one shape.
struct CapturedPlan {
  bool bottom_up = false;     ///< rows of the uploaded planes run upwards
  bool source_inside = true;  ///< false: passes that read the picture are launched before the graph
  cuda::GraphExec plain, timed;
};

/// What the GPU's side needs to say that a slot is finished.
struct SlotSignal {
  SlotSync* sync;
  FramePool* pool;
  int index;
  const uint8_t* host_stats;  ///< the frame's side data, complete by then
  StatsBuffer* finished_stats;
  int64_t frame;
};

struct CudaSlot {
  MemoryBlock upload;      ///< device copy of the decoded planes
  MemoryBlock host_block;  ///< pinned: parameter blocks as of this frame
  MemoryBlock device_block;
  std::vector<MemoryBlock> device_memory;  ///< for `images`, when frames go to the host
  std::vector<ImageRef> images;            ///< what the passes write, on the device
  SlotSync* sync = nullptr;                ///< of the output frame with the same number
  SlotSignal signal{};
  cuda::Event uploaded;
  SlotTiming timing;
  std::vector<CapturedPlan> captured;  ///< three shapes at most
  Picture picture;  ///< held until its upload (or, for device pictures, the graph) has passed
  int64_t frame = -1;
};

}  // namespace lensd
