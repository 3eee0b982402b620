// Measurements of a camera or PipeWire node. The threads that receive pictures write them; any thread may
// read them. The counters continue across reconnections.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lensd {

/// The signal at the input of a grabber. Always `good` for webcams.
enum class CameraSignal : uint8_t { good, none, unstable, no_power };

/// Returns the problem with the signal; an empty string if there is none.
constexpr const char* problem(CameraSignal signal) noexcept {
  constexpr const char* kTexts[] = {"", "no signal", "no stable signal", "the input has no power"};
  return kTexts[static_cast<size_t>(signal)];
}

struct CameraMonitor {
  /// Number of pictures that were not delivered, because they were damaged or incomplete.
  std::atomic<uint64_t> broken{0};
  /// Number of pictures that the driver dropped, according to gaps in its sequence numbers.
  std::atomic<uint64_t> missed{0};
  std::atomic<CameraSignal> signal{CameraSignal::good};  ///< at most a second old while connected
};

}  // namespace lensd
