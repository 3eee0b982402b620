// Measures the machine's speed for the timings panels: the memory copy rate of the backend in use, once at
// the start, and the clock speeds of CPU and GPU, once per second while they are shown.
//
//   own thread ── measure_*_copy_rate(), cpu_clock(), GpuClockMonitor ──▶ members ── timings panels
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/device/backend.hpp"
#include "core/device/clock_speed.hpp"

namespace lensd {

class MachineSpeed {
 public:
  /// Starts the measurement. `threads` is ExecutorOptions::threads.
  MachineSpeed(Backend backend, int device, int threads);
  ~MachineSpeed();
  MachineSpeed(const MachineSpeed&) = delete;
  MachineSpeed& operator=(const MachineSpeed&) = delete;

  Backend backend() const { return backend_; }
  /// Starts or stops reading the clocks. Does not block.
  void show_clocks(bool shown);
  ClockSpeed cpu_clock() const { return locked(cpu_clock_); }
  ClockSpeed gpu_clock() const { return locked(gpu_clock_); }
  /// Returns the CPU's copy rate: bytes read plus written per second; 0: not measured.
  double cpu_copy_rate() const { return locked(cpu_copy_rate_); }
  /// Returns the GPU's copy rate: bytes read plus written per second; 0: not measured.
  double gpu_copy_rate() const { return locked(gpu_copy_rate_); }

 private:
  template <class T>
  T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  void run(int device, int threads);

  const Backend backend_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool clocks_shown_ = false, ending_ = false;
  double cpu_copy_rate_ = 0, gpu_copy_rate_ = 0;
  ClockSpeed cpu_clock_{0, "Not read yet"}, gpu_clock_{0, "Not read yet"};
  std::thread thread_;
};

}  // namespace lensd
