// The processors' clocks, read once a second on a thread of its own while somebody looks at them.
//
//   UI thread ── want() ──▶ thread ── cpu_clock(), GpuClockMonitor ──▶ cpu(), gpu() ── timings' details
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/device/backend.hpp"
#include "core/device/clock_speed.hpp"

namespace lensd {

class ClockReader {
 public:
  ClockReader(Backend backend, int device);
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

  /// Whether they are looked at; any thread, at any rate.
  void want(bool wanted);
  /// As last read.
  ClockSpeed cpu() const;
  ClockSpeed gpu() const;

 private:
  void run(Backend backend, int device);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, ending_ = false;
  ClockSpeed cpu_{0, "Not read yet"}, gpu_{0, "Not read yet"};
  std::thread thread_;
};

}  // namespace lensd
