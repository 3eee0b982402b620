// Reads pictures from a node of the PipeWire session: a camera, another program's stream, or what the user
// selects in the desktop portal's dialog.
//
//   node ──▶ shared buffers ── PipeWire's thread keeps the newest ──▶ read() copies it and returns the buffer
//
// Screen casts and other nodes of variable rate send pictures only when they change. If they are silent,
// read() returns the newest picture again. A camera that is silent has failed.
//
// The copy makes pictures independent of the connection. Supports only uncompressed formats. If the node
// changes its format, the next pictures have the new one. Call all members from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/image/view.hpp"
#include "core/media/camera/camera_monitor.hpp"
#include "core/media/ffmpeg/picture_allocator.hpp"
#include "core/media/portal.hpp"

namespace lensd {

struct StopFlags;

/// Returns the node of "pipewire:NODE": a name, description or serial number; empty: the first camera.
std::string pipewire_node_of(const std::string& url);

class PipewireCapture {
 public:
  struct Request {
    Extent size;                             ///< empty: any, preferably 1280×720
    double rate = 0;                         ///< frames per second; 0: any, preferably 30
    std::shared_ptr<PortalGrant> grant;      ///< kept between connections; not null for a portal source
    std::shared_ptr<CameraMonitor> monitor;  ///< counts damaged pictures; null: the capture creates one
    int64_t repeat_ns = 500'000'000;         ///< repeats the picture after this silence if may_be_silent()
  };
  /// Connects to the source `url`: pipewire:NODE or one of portal_target(). Waits at most `timeout_ns` for
  /// the user's answer, then at most `timeout_ns` or 10 s, whichever is shorter, for the format. Throws
  /// Error(bad_source) if PipeWire is not running, the node does not exist or offers no format that lensd
  /// reads; Error(unavailable) without libpipewire or a portal, or if the user declines or does not answer.
  PipewireCapture(const std::string& url, const std::string& where, const Request& request,
                  const StopFlags& stop, int64_t timeout_ns);
  ~PipewireCapture();

  AVPixelFormat pixels() const noexcept;
  Extent size() const noexcept;
  double rate() const noexcept;  ///< frames per second; 0: unknown
  /// Returns true for a shared screen or window and for a node of variable rate.
  bool may_be_silent() const noexcept;
  const std::shared_ptr<CameraMonitor>& monitor() const noexcept { return monitor_; }

  /// Fills `frame` with the newest intact picture, or repeats the last one with the current time. Times are
  /// nanoseconds on the monotonic clock. Returns 0 or an AVERROR: EAGAIN if there is none after 50 ms, ENODEV
  /// if the node or the connection is gone.
  int read(AVFrame& frame, PictureAllocator& allocator) noexcept;

 private:
  struct Stream;
  const std::shared_ptr<CameraMonitor> monitor_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace lensd
