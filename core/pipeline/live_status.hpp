// State of a live source as plain data, for panels, control and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lensd {

enum class LiveState : uint8_t {
  connecting,    ///< no picture yet since the start
  playing,       ///< pictures arrive
  stalled,       ///< connected, but no picture for too long (LiveTiming::stall_ns)
  reconnecting,  ///< the connection is lost; the source retries until it is closed
};

constexpr const char* name(LiveState state) noexcept {
  constexpr const char* kNames[] = {"connecting", "playing", "stalled", "reconnecting"};
  return kNames[static_cast<size_t>(state)];
}

/// Times are on the monotonic clock (core/base/clock.hpp).
struct LiveStatus {
  bool live = false;  ///< false: not a live source; ignore the other members
  LiveState state = LiveState::connecting;
  /// Short reason why the source does not play, without secrets. Empty before the first failure. While
  /// playing, it is set only if the camera reports a signal problem, if the source is shown without the
  /// graph, or if its pictures are dropped, for example for lack of memory.
  std::string reason;
  std::string stream;          ///< current or last stream, such as "1280×720 h264, 30 fps"
  int64_t since_ns = 0;        ///< time when `state` was entered
  int64_t last_frame_ns = 0;   ///< arrival of the newest picture; 0: none yet
  uint64_t attempts = 0;       ///< connection attempts
  uint64_t reconnects = 0;     ///< how often pictures arrived again after a lost connection
  uint64_t stalls = 0;         ///< number of times that pictures stopped while connected
  uint64_t frames = 0;         ///< pictures received
  uint64_t dropped = 0;        ///< pictures dropped from the queue because newer ones arrived
  double nominal_rate = 0;     ///< frames per second that the stream announces; 0: unknown
  double rate = 0;             ///< frames per second by capture time, over the last 5 s; 0: unknown
  uint64_t camera_broken = 0;  ///< cameras, PipeWire: damaged pictures, which are not delivered
  uint64_t camera_missed = 0;  ///< cameras: pictures that the driver dropped before lensd read them
  /// Delay of the newest picture: the time in network and decoder queues, plus the wait for its sound. -1:
  /// unknown. The time in queues is arrival minus timestamp, minus the smallest such difference of this
  /// connection, but at least the time since FrameInfo::capture_ns.
  int64_t latency_ns = -1;
};

}  // namespace lensd
