// A plan with its memory and the pointers that its passes need. Used by both executors.
//
//   Plan ── bind_plan() ──▶ BoundPlan ── bind_frame() for each frame ──▶ PassArgs for run() or launch()
//   old and new BoundPlan ── carry_state_over() ──▶ the bytes of filter state and of counters to copy
//
// Prepared on any thread, then owned by the process thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/exec/executor.hpp"
#include "core/graph/exec/stats_buffer.hpp"

namespace lensd {

/// Tracks which of a node's two state buffers holds the previous frame's state; see FrameBlock.
class StateIndex {
 public:
  /// Advances to the next frame. Does nothing if `again`, because the last frame is then run again.
  void advance(bool again) {
    if (again && ran_) return;
    if (ran_) index_ ^= 1;
    reset_ = !ran_ || reset_next_;
    ran_ = true, reset_next_ = false;
  }
  /// Marks the next frame as one without a previous frame.
  void reset_next() { reset_next_ = true; }
  uint32_t index() const { return index_; }
  /// Returns the index of the buffer that the last frame wrote.
  uint32_t newest() const { return ran_ ? index_ ^ 1 : index_; }
  uint32_t reset() const { return reset_ ? 1 : 0; }

 private:
  uint32_t index_ = 0;
  bool ran_ = false, reset_next_ = false, reset_ = true;
};

struct BoundNode {
  PlanNode* node = nullptr;
  PassArgs args;
  std::vector<ConstImageRef> in;
  std::vector<std::array<size_t, 2>> frame_inputs;  ///< inputs that are images of the frame:
                                                    ///< {index in `in`, index in FrameMemory::images}
  std::vector<uint8_t*> scratch;
  std::vector<Profiler::Scope> scopes;  ///< timing scope of each pass
  std::vector<Timeline::Label> labels;  ///< timeline label of each pass
  StateIndex state;
};

/// A node of an earlier plan whose counters the plan keeps; see Layout::counter_bytes.
struct CounterOwner {
  std::string id, filter_name;
  size_t bytes = 0;
};

struct BoundPlan : PreparedPlan {
  std::shared_ptr<FramePool> pool;
  MemoryBlock arena, state;
  std::vector<BoundNode> nodes;
  std::vector<CounterOwner> counters;  ///< in the order of the memory at Plan::counters_offset; newest last
  std::unique_ptr<StatsBuffer> finished_stats;
  Profiler::Scope upload_scope;  ///< copies of pictures to the GPU; null on the CPU
};

/// Allocates the plan's memory of kind `memory` and `frames` output frames of kind `frame_memory`, and binds
/// its nodes. Throws Error(runtime_failure) if there is not enough memory.
void bind_plan(BoundPlan& bound, std::unique_ptr<Plan> plan, MemoryKind memory, MemoryKind frame_memory,
               int frames, Profiler& profiler, Timeline& timeline);

/// Pointers that change from frame to frame. All point to the backend's memory, except host_blocks and
/// picture.
struct FrameMemory {
  std::span<const ImageRef> images;  ///< in the order of Plan::frame_images
  uint8_t *stats = nullptr, *blocks = nullptr;
  const uint8_t* host_blocks = nullptr;
  const PictureRef* picture = nullptr;
};
void bind_frame(std::span<BoundNode> nodes, const FrameMemory& frame);

/// Advances the state indices, unless the last frame is run `again`, and writes the frame blocks to `blocks`,
/// host memory of Plan::block_bytes bytes.
void write_frame_blocks(std::span<BoundNode> nodes, const FrameInfo& frame, bool again, uint8_t* blocks);

/// A range of bytes to copy from the old plan's state memory to the new plan's.
struct StateCopy {
  size_t from = 0, to = 0, bytes = 0;
};
/// Copies the state indices of nodes that keep their state, and the owners of counters. A node that was not
/// in the old plan starts with its own counters, or with the newest ones of its filter. Returns the byte
/// ranges that the caller must copy.
std::vector<StateCopy> carry_state_over(const BoundPlan& old, BoundPlan& next);

}  // namespace lensd
