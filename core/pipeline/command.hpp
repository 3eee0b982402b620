// What a person or a program can ask of the running pipeline, as values on a queue.
//
//   panel, keys, control socket ── Command ──▶ BoundedQueue ──▶ process / decode thread, at a frame boundary
//
// Commands are plain values; the thread that takes one off the queue owns it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/edit.hpp"

namespace lensd {

/// Replaces the whole graph (add, remove, reorder, undo, preset).
struct SetGraph {
  GraphDesc graph;
  uint64_t request = 0;  ///< not 0: what became of it is wanted (Pipeline::take_outcomes())
};
/// Several changes that apply to one frame, or none of them where one is refused.
struct Batch {
  std::vector<GraphChange> changes;
};
/// Shows the decoded picture instead of the graph's output, until switched off again.
struct Bypass {
  bool on = true;
};
/// Shows the picture of one node instead of the graph's output; empty: the output again. A node that is not
/// there is passed over.
struct Solo {
  std::string node;
};
/// Echoed in PipelineStatus::edit_mark when all that was posted before by the same thread has been applied.
struct EditMark {
  uint64_t mark = 0;
};
struct Pause {
  bool paused = true;
};
struct Step {
  int frames = 1;  ///< negative: backward
};
struct Seek {
  int64_t position_ns = 0;
  bool relative = false;
};
/// Playback speed, as a factor of real time.
inline constexpr double kMinSpeed = 0.01, kMaxSpeed = 100;
struct SetSpeed {
  double speed = 1;
};
struct SetLoop {
  bool file = false;
  int64_t a_ns = -1, b_ns = -1;  ///< A-B loop; negative: not set
};
/// The scopes that are wanted from now on, instead of those before; none costs nothing.
struct SetScopes {
  std::vector<ScopeRequest> scopes;
};
/// The nodes ("source" too) whose pictures frames carry beside the output from now on; see
/// Frame::find_image().
struct SetViews {
  std::vector<std::string> nodes;
};
/// Records from the next frame on. Where it ends, or what went wrong, is a notice.
struct StartRecord {
  enum class What : uint8_t { output, source };  ///< the graph's output, or the picture as decoded
  std::string path;                              ///< a file or a template; empty: as [record] says
  What what = What::output;
  bool overwrite = false;    ///< the path was named on the command line: an older file gives way
  bool keep_trying = false;  ///< after a failure it is begun again, now and then, until it is stopped
  bool resumed = false;      ///< goes on with a recording of before: a plain name that is taken gets a number
  /// Not empty: the path came from a control request and is taken as one below this folder, which it may not
  /// leave.
  std::string beneath;
};
struct StopRecord {};

using Command = std::variant<SetParam, SetEnabled, SetGraph, Batch, Bypass, Solo, EditMark, Pause, Step, Seek,
                             SetSpeed, SetLoop, SetScopes, SetViews, StartRecord, StopRecord>;

}  // namespace lensd
