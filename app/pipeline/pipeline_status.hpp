// What a pipeline reports about itself, as plain values that any thread may copy and keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/media/live_status.hpp"

namespace lensd {

/// The part that the process thread publishes as a whole at every frame boundary.
struct ProcessStatus {
  int64_t frame_index = -1, position_ns = 0, frame_duration_ns = 0;
  uint64_t processed = 0, late = 0;
  uint64_t reruns = 0;             ///< frames processed again with other parameters; not part of `processed`
  uint64_t applied = 0;            ///< ticket of the last command that was applied
  uint64_t edit_mark = 0;          ///< the last EditMark that was applied
  uint64_t process_heartbeat = 0;  ///< grows while the process thread runs, and after Pipeline::wake()
  double speed = 1;
  bool planning = false;  ///< a plan is being prepared: GraphView::graph is not yet the requested one
  bool paused = false, ended = false, bypass = false, loop_file = false;
};

struct PipelineStatus : ProcessStatus {
  uint64_t decoded = 0, not_shown = 0;
  uint64_t dropped = 0;       ///< live: replaced by newer pictures before the graph, here and in the source
  uint64_t skipped = 0;       ///< live: dropped while paused
  uint64_t placeholders = 0;  ///< of those decoded
  uint64_t decode_heartbeat = 0;  ///< grows while the decode thread runs
  bool failed = false;
  bool queue_full = false;  ///< the decode thread waits until the process thread takes a picture
  LiveStatus live;
};

/// A node of the running plan.
struct PlannedNode {
  std::string id, filter;
  ImageFormat output;
  bool automatic = false;
  bool scope = false;
};

/// The graph as it is now; a new object for every change.
struct GraphView {
  GraphDesc graph;
  GraphDesc requested;  ///< differs from `graph` while a plan is being prepared
  int64_t frame = 0;    ///< the first frame that is processed with it
  std::vector<PlannedNode> planned;
  std::string summary;
  uint64_t version = 0;
};

struct PipelineNotice {
  bool problem = false;
  std::string text;
};

/// The result of a SetGraph that carried a request number.
struct PlanOutcome {
  uint64_t request = 0;
  std::string problem;  ///< empty: the graph is in use from `frame` on
  int64_t frame = 0;
};

}  // namespace lensd
