// Status of a pipeline and its sinks. Plain values; copy freely between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/graph/precision.hpp"
#include "core/image/frame.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/pipeline/live_status.hpp"
#include "core/pipeline/playback_sound.hpp"

namespace lensd {

/// Values that the process thread publishes together at every frame boundary.
struct ProcessStatus {
  int64_t frame_index = -1, frame_duration_ns = 0;
  int64_t position_ns =
      0;  ///< timestamp of the shown picture; advances while it is shown for more than 250 ms
  uint64_t processed = 0, late = 0;
  uint64_t reruns = 0;             ///< frames processed again after a command; not counted in `processed`
  uint64_t applied = 0;            ///< ticket of the last applied command
  uint64_t edit_mark = 0;          ///< the last applied EditMark
  uint64_t process_heartbeat = 0;  ///< increases while the process thread runs, and after Pipeline::wake()
  double speed = 1;
  int64_t loop_a_ns = -1, loop_b_ns = -1;  ///< A-B loop; negative: not set
  PixelAspect pixel_aspect;                ///< pixel aspect of the output
  PixelAspect source_aspect;               ///< pixel aspect of the source's pictures, upright
  /// Field order of the newest frame that is marked as interlaced; progressive: there was none.
  FieldOrder fields = FieldOrder::progressive;
  bool frame_estimated = false;  ///< see FrameInfo::index_estimated
  bool planning = false;  ///< a plan is being prepared; GraphView::graph is not the requested graph yet
  bool paused = false, ended = false, bypass = false, loop_file = false;
  Precision precision = Precision::automatic;  ///< as requested
  int bits = 8;                                ///< per sample in the running plan, 8 or 16
  ColourSettings colour;                       ///< as requested
  ColourSpec source_colour;                    ///< colours of the running plan's pictures
  YuvMatrix scope_matrix = YuvMatrix::bt601;   ///< matrix of the scopes and the probe
};

/// A file is stalled after this time without a picture.
inline constexpr int64_t kStalledNs = 1'000'000'000;

struct PipelineStatus : ProcessStatus {
  uint64_t decoded = 0, not_shown = 0;
  uint64_t dropped = 0;       ///< live: pictures that newer ones replaced, in the source and in the queue
  uint64_t skipped = 0;       ///< live: pictures dropped while paused
  uint64_t placeholders = 0;  ///< pictures among `decoded` that are placeholders, see FrameInfo
  /// Increases while the decode thread runs, or waits for data of a server or a pipe.
  uint64_t decode_heartbeat = 0;
  /// Files: time since which the pipeline has waited for the next picture because no data arrives, for
  /// example from a server. Set once the wait lasts kStalledNs. 0: no such wait, or the decoder is slow.
  int64_t stalled_since_ns = 0;
  bool failed = false;
  bool all_decoded = false;  ///< the decoder has reached the end and waits for a seek
  bool queue_full = false;   ///< the decode thread waits until the process thread takes a picture
  LiveStatus live;
  SoundState sound = SoundState::off;
  double volume = 100;  ///< volume of the sound in percent
  bool muted = false;
};

enum class SinkKind : uint8_t { recorder, stream, virtual_camera };

struct SinkStatus {
  SinkKind kind = SinkKind::recorder;
  /// Recorder: a recording is active. Stream and virtual camera: a receiver is connected.
  bool active = false;
  std::string path;  ///< path of the current or last file, a stream's URL without secrets, a camera's name
  int64_t frames = 0, bytes = 0, files = 0;
  uint64_t dropped = 0;  ///< frames lost because the sink was too slow or a stream had no receiver
  /// Recorder: pictures of a live source that the pipeline dropped during the recording, so that they did not
  /// reach the recorder.
  uint64_t missed = 0;
  std::string state;  ///< a stream's or virtual camera's state: "connecting", "sending", …; recorder: empty
  bool wanted = false;    ///< recorder: between start() and stop(), also after a failure or before any frame;
                          ///< virtual camera: it is on
  uint64_t begun = 0;     ///< recorder: number of completed start() calls, successful or not
  uint64_t failures = 0;  ///< recorder: number of recordings that ended with an error
  std::string problem;    ///< recorder: the last error; others: why they wait
};

/// A node of the running plan.
struct PlannedNode {
  std::string id, filter;
  ImageFormat output;
  bool automatic = false;
  bool scope = false;
};

/// The current graph. Every change creates a new object.
struct GraphView {
  GraphDesc graph;
  GraphDesc requested;  ///< differs from `graph` while a plan is being prepared
  int64_t frame = 0;    ///< index of the first frame that is processed with `graph`
  PictureInfo picture;  ///< format of the source's pictures
  std::vector<PlannedNode> planned;
  std::string summary;
  size_t device_bytes = 0;  ///< see Executor::device_bytes()
  uint64_t version = 0;
};

/// The result of a SetGraph or Batch with a request number.
struct PlanOutcome {
  uint64_t request = 0;
  std::string problem;  ///< empty: the change is in use from `frame` on
  int64_t frame = 0;
};

}  // namespace lensd
