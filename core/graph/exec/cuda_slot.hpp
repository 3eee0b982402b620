// Data of the CUDA executor for each output frame. Included by cuda_*.cpp only.
#pragma once

#include <atomic>
#include <vector>

#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "core/graph/exec/stats_buffer.hpp"
#include "core/graph/filter.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

/// Synchronises the executor with readers of one output frame. Owned by the frame's pool, because a reader
/// may hold a frame while the plan is replaced.
struct SlotSync {
  cuda::Event computed, read;
  bool was_read = false;          ///< `read` was recorded since the frame was last written
  std::atomic<uint32_t> busy{0};  ///< 1 from queueing until the GPU has finished the slot's work
  int64_t finished_ns = 0;        ///< host time when the GPU finished; written before `busy` becomes 0
};

/// One SlotSync for each output frame of a pool, attached to the pool.
using SyncSet = std::vector<SlotSync>;

/// Events of one timed frame, read when a later frame uses the slot.
struct SlotTiming {
  cuda::Event upload_begin{cuda::Timing::on}, upload_end{cuda::Timing::on};
  std::vector<cuda::Event> marks;  ///< events before the first pass and after each pass
  bool pending = false;
  int64_t frame = 0;
  int64_t queued_ns = 0;  ///< host time just before `upload_begin` was recorded
};

/// The plan's kernels for one slot as CUDA graphs: one plain, one with events around each pass. Both graphs
/// are valid for pictures of one layout.
struct CapturedPlan {
  bool bottom_up = false;     ///< rows of the uploaded planes are stored from bottom to top
  bool source_inside = true;  ///< false: passes that read the picture are launched before the graph
  bool field_chroma = false;  ///< PictureInfo::has_field_chroma()
  cuda::GraphExec plain, timed;
};

/// Arguments of the callback that marks a slot as finished.
struct SlotSignal {
  SlotSync* sync;
  FramePool* pool;
  int index;
  const uint8_t* host_stats;  ///< the frame's side data
  StatsBuffer* finished_stats;
  int64_t frame;
};

/// Large device buffers of an unfinished frame. Slots share a few of them, because few frames are unfinished.
struct CudaBuffers {
  MemoryBlock upload;               ///< device copy of the decoded planes
  std::vector<MemoryBlock> images;  ///< images that the passes write, if output frames are in host memory
  const cuda::Event* computed = nullptr;  ///< SlotSync::computed of the last frame; null before the first one
  cuda::Event returned;                   ///< recorded after `images` are copied to the frame
};

struct CudaSlot {
  CudaBuffers* buffers = nullptr;
  MemoryBlock host_block;  ///< pinned: this frame's parameter blocks
  MemoryBlock device_block;
  std::vector<ImageRef> images;  ///< device images that the passes write
  SlotSync* sync = nullptr;      ///< events of the output frame with the same index
  SlotSignal signal{};
  cuda::Event uploaded;
  SlotTiming timing;
  std::vector<CapturedPlan> captured;  ///< at most five, one per picture layout
  Picture picture;                     ///< held until it is uploaded, or until the passes have read it if
                                       ///< it is in device memory
};

}  // namespace lensd
