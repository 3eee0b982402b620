// What takes frames beside the display: recordings and restreams.
//
//   process thread ── take() ──▶ a sink's own queue ──▶ the sink's thread
//
// A pipeline calls its sinks on the process thread, at frame boundaries. They neither allocate nor lock
// there; for a file they may wait, so that no frame is lost, for a live source they drop and count.
#pragma once

#include <string>
#include <vector>

#include "core/graph/exec/device_frame_sync.hpp"
#include "core/image/picture_handle.hpp"
#include "core/pipeline/command.hpp"

namespace lensd {

/// How a sink does, for people; gathered from its thread's counters.
struct SinkStatus {
  bool recording = false;  ///< a file is being written (or a receiver is being served)
  std::string path;        ///< the file at hand, or the last one; the address without secrets
  int64_t frames = 0, bytes = 0, files = 0;
  uint64_t dropped = 0;   ///< frames that the sink was too slow for
  std::string state;      ///< of a stream: "connecting", "sending", …; empty for a recorder
  bool wanted = false;    ///< a recorder was asked to record; without `recording` it failed, or no frame came
  uint64_t begun = 0;     ///< recordings that were begun, or failed at it
  uint64_t failures = 0;  ///< times that a recording broke off
  std::string problem;    ///< why the last one did
};

struct SinkNotice {
  bool problem = false;
  std::string text;
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Before the first frame: how frames that stay on the GPU are brought home; null where frames are in host
  /// memory. What is still queued must be finished before the pipeline goes.
  virtual void attach(DeviceFrameSync*) {}

  /// A new frame and the picture that it was made of, in order. Process thread.
  virtual void take(const Frame& frame, const Picture& source) = 0;
  virtual void start(const StartRecord&) {}
  virtual void stop() {}
  /// From now on take() waits for nothing; any thread.
  virtual void stop_soon() noexcept = 0;

  /// Any thread.
  virtual SinkStatus status() const = 0;
  virtual std::vector<SinkNotice> take_notices() = 0;
};

}  // namespace lensd
