// Offers a run's output as a camera of the PipeWire session. Browsers and meeting programs list it as they
// list webcams; no kernel module is needed.
//
//   frames ── write() ──▶ copy of the newest frame ──▶ buffers shared with the receivers
//   PipeWire's thread: connects, reconnects, and repeats the newest frame while there is no new one
//
// The camera outlives pipelines, so that receivers keep it when the source changes. It appears with the first
// frame. A new size, format, rate or aspect renegotiates the format with all receivers. After a restart of
// the PipeWire daemon it reconnects within 250 ms. Thread-safe; call write() from one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/notices.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Name of the camera if none is given.
inline constexpr const char* kVirtualCameraName = "lensd";

/// Throws Error(usage) unless the name has 1 to 64 bytes, without '/' and control characters.
void check_virtual_camera_name(const std::string& name);

class VirtualCamera {
 public:
  enum class State : uint8_t {
    off,
    waiting,    ///< no connection to PipeWire
    ready,      ///< connected; receivers can find the camera after the first frame
    streaming,  ///< at least one program receives it
  };
  struct Status {
    State state = State::off;
    std::string name, reason;  ///< reason: why the state is `waiting`
    int64_t frames = 0;        ///< frames passed to receivers, without repetitions
    uint64_t dropped = 0;      ///< frames not passed on, because receivers were too slow
  };

  /// `dither`: frames of 16 bits are dithered to the camera's 8 bits; else rounded.
  explicit VirtualCamera(bool dither = false);
  ~VirtualCamera();
  VirtualCamera(const VirtualCamera&) = delete;
  VirtualCamera& operator=(const VirtualCamera&) = delete;

  /// Offers the camera under `name`. If it is already offered under another name, replaces it. Does not wait
  /// for PipeWire. Throws Error(usage) if the name is not allowed, Error(unavailable) if libpipewire is
  /// missing.
  void start(const std::string& name);
  /// Withdraws the camera. Idempotent.
  void stop();
  /// Returns true between start() and stop().
  bool on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Returns the number of cameras that start() has created so far. Each needs a frame before it appears.
  uint64_t starts() const noexcept { return starts_.load(std::memory_order_acquire); }

  /// Sends a frame in host memory to the receivers. Copies the frame; does not wait for receivers. `fps`:
  /// rate of the frames; 0: unknown.
  void write(ConstImageRef image, PixelAspect aspect, double fps);

  Status status() const;
  /// Returns the messages since the last call: connection lost and restored.
  std::vector<Notice> take_notices() { return notices_.take(); }

 private:
  struct Node;
  const bool dither_;
  std::atomic<bool> on_{false};
  std::atomic<uint64_t> starts_{0};
  NoticeList notices_;
  mutable std::mutex mutex_;    ///< guards node_
  std::shared_ptr<Node> node_;  ///< write() uses a copy of it without the mutex
};

/// Returns a state for properties and messages: "off", "waiting", "ready" or "streaming".
const char* name(VirtualCamera::State state);

}  // namespace lensd
