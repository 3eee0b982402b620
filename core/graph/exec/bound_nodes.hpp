// What both executors make of a plan: its nodes with every pointer resolved, and the clocks of their states.
//
//   Plan + Areas ── bind_nodes() ──▶ Steps ── point_at() each frame ──▶ PassArgs for run() or launch()
//   old Steps, new Steps ── carry_over() ──▶ the bytes of state that live on
//
// Belongs to an executor; prepared on any thread, then used by the process thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/plan.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"

namespace lensd {

/// Which half of a node's state is the past, frame by frame; see FrameBlock.
class StateClock {
 public:
  /// Moves on to the next frame, or stays where it is for a frame that is run `again`.
  void tick(bool again) {
    if (again && ran_) return;
    if (ran_) state_index_ ^= 1;
    reset_ = !ran_ || cut_;
    ran_ = true, cut_ = false;
  }
  /// The next frame has no past.
  void cut() { cut_ = true; }
  uint32_t state_index() const { return state_index_; }
  /// The half that the last frame filled.
  uint32_t newest() const { return ran_ ? state_index_ ^ 1 : state_index_; }
  uint32_t reset() const { return reset_ ? 1 : 0; }

 private:
  uint32_t state_index_ = 0;
  bool ran_ = false, cut_ = false, reset_ = true;
};

struct BoundNode {
  PlanNode* node = nullptr;
  PassArgs args;
  std::vector<ConstImageRef> in;
  std::vector<std::array<size_t, 2>>
      from_frame;  ///< inputs that are images of the frame: which, and which image
  std::vector<uint8_t*> scratch;
  std::vector<int> scopes, labels;
  StateClock clock;
};

/// Where a plan's memory lies, on the backend's side.
struct Areas {
  uint8_t *arena = nullptr, *state = nullptr;
};

std::vector<BoundNode> bind_nodes(Plan& plan, const Areas& areas, Profiler& profiler, Timeline& timeline,
                                  bool gpu);

/// What changes from frame to frame, on the backend's side.
struct FrameAreas {
  std::span<const ImageRef> images;  ///< of the frame, as Plan::frame_images has them
  uint8_t *stats = nullptr, *blocks = nullptr;
  const uint8_t* host_blocks = nullptr;
  const PictureRef* picture = nullptr;
};
void point_at(std::span<BoundNode> steps, const FrameAreas& frame);

/// Ticks all clocks and writes the frame blocks into `blocks` (host memory of Plan::block_bytes).
void tick(std::span<BoundNode> steps, const FrameInfo& frame, bool again, uint8_t* blocks);

/// A run of bytes in the states' areas of two plans.
struct StateCopy {
  size_t from = 0, to = 0, bytes = 0;
};
/// Lets the clocks of `next` go on where those of `last` are, for nodes that keep their state; what to copy.
std::vector<StateCopy> carry_over(std::span<const BoundNode> last, std::span<BoundNode> next);

/// Rows of the timings table that belong to the plan or to no plan.
std::vector<std::string> active_rows(const Plan& plan);

}  // namespace lensd
