// What the reader thread measures of a camera, for all threads. Counts continue over reconnections.
#pragma once

#include <atomic>
#include <cstdint>

namespace lensd {

struct CameraMonitor {
  /// Pictures not delivered, because they were damaged or incomplete.
  std::atomic<uint64_t> broken{0};
  /// Pictures that the driver dropped, according to gaps in its sequence numbers.
  std::atomic<uint64_t> missed{0};
};

}  // namespace lensd
