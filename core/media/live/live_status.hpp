// What a live source is doing, as plain data for panels, control and metrics.
#pragma once

#include <cstdint>
#include <string>

namespace lensd {

enum class LiveState : uint8_t {
  connecting,    ///< no picture yet since the start
  playing,       ///< pictures come
  stalled,       ///< connected, but no picture for the stall time
  reconnecting,  ///< the connection is gone; it is tried again for ever
};

constexpr const char* name(LiveState state) noexcept {
  switch (state) {
    case LiveState::connecting:
      return "connecting";
    case LiveState::playing:
      return "playing";
    case LiveState::stalled:
      return "stalled";
    case LiveState::reconnecting:
      return "reconnecting";
  }
  return "";
}

/// Copy freely. Times on the monotonic clock (core/base/clock.hpp).
struct LiveStatus {
  bool live = false;  ///< false: not a live source, the rest says nothing
  LiveState state = LiveState::connecting;
  std::string reason;         ///< why it does not play, a few words without secrets; empty while playing
  std::string stream;         ///< what plays or last played: "1280×720 h264, 30 fps"
  int64_t since_ns = 0;       ///< when `state` was entered
  int64_t last_frame_ns = 0;  ///< when the newest picture came; 0: none yet
  uint64_t attempts = 0;      ///< connections tried
  uint64_t reconnects = 0;    ///< times that pictures came again over a new connection
  uint64_t stalls = 0;        ///< times that pictures stopped without the connection being lost
  uint64_t frames = 0;        ///< pictures received
  uint64_t dropped = 0;       ///< pictures replaced by newer ones before the pipeline took them
  /// How far the newest picture lags behind the earliest arrival that its time stamp promises: what queues
  /// in the network and in decoders add. Not the time since exposure. -1: not known.
  int64_t latency_ns = -1;
};

}  // namespace lensd
