// Frame sinks are recordings, streams and the virtual camera. They receive every frame in addition to the
// display.
//
//   process thread ── take() ──▶ the sink's queue ──▶ the sink's thread
//
// The pipeline calls arriving(), take(), start() and stop() on the process thread, where they must not
// allocate or lock per frame. With a file source, take() of recordings and streams waits while the queue is
// full, so that no frame is lost. With a live source, and for the virtual camera with any source, take()
// drops and counts the oldest frame instead. During a burst of a live source, take() of a recording first
// waits up to 250 ms.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/notices.hpp"
#include "core/graph/exec/device_frame_sync.hpp"
#include "core/image/picture_handle.hpp"
#include "core/pipeline/command.hpp"
#include "core/pipeline/pipeline_status.hpp"

namespace lensd {

struct PixelAspects {
  PixelAspect output, source;  ///< `source`: aspect of the picture as stored, before rotation
};

/// How a frame of a live source arrived.
struct Arrival {
  bool burst = false;    ///< the frame's picture waited in the queue, or other pictures wait behind it
  uint64_t dropped = 0;  ///< pictures that the pipeline has dropped since its start
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Called before the first frame with the object that copies device frames to the host; null if frames are
  /// in host memory. The pipeline must outlive the sink's queued frames.
  virtual void attach(DeviceFrameSync*) {}

  /// Returns true while the sink needs every frame, including late ones. Thread-safe.
  virtual bool wants_every_frame() const noexcept { return false; }
  /// Returns true if the sink needs a frame and has received none. While no new frame arrives, the sink then
  /// receives the current frame again. Called by the process thread.
  virtual bool wants_current_frame() const noexcept { return false; }
  /// Returns true if the sink also gets frames that were processed again with changed parameters, for example
  /// while paused. Called by the process thread.
  virtual bool wants_reruns() const noexcept { return false; }
  /// Called before take() if the source is live.
  virtual void arriving(const Arrival&) {}
  /// Receives each new frame with its source picture, in order. Called by the process thread.
  virtual void take(const Frame& frame, const Picture& source, const PixelAspects& aspects) = 0;
  /// Called before the first frame of a connection whose rate is known and differs from the last known one.
  /// `fps` is greater than 0. Called by the process thread.
  virtual void rate_changed(double /*fps*/) {}
  virtual void start(const StartRecord&) {}
  virtual void stop() {}
  /// Makes take() return without waiting from now on. Thread-safe.
  virtual void stop_soon() noexcept = 0;

  /// Returns the sink's status. Thread-safe.
  virtual SinkStatus status() const = 0;
  /// Returns the notices since the last call. Thread-safe.
  virtual std::vector<Notice> take_notices() = 0;
};

}  // namespace lensd
