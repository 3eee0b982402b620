// The copy rate of the backend in use, measured once beside the start of the program.
//
//   thread of its own ── measure_*_copy_rate() ──▶ cpu(), gpu() ── timings panel
#pragma once

#include <atomic>
#include <thread>

#include "core/device/backend.hpp"
#include "core/device/copy_rate.hpp"

namespace lensd {

class CopyRates {
 public:
  /// Measures while the window opens. `threads` as for the executor.
  CopyRates(Backend backend, int device, int threads)
      : thread_([this, backend, device, threads] {
          if (backend == Backend::cuda)
            gpu_.store(measure_gpu_copy_rate(device), std::memory_order_relaxed);
          else
            cpu_.store(measure_cpu_copy_rate(threads), std::memory_order_relaxed);
        }) {}
  ~CopyRates() { thread_.join(); }
  CopyRates(const CopyRates&) = delete;
  CopyRates& operator=(const CopyRates&) = delete;

  /// Bytes read and written a second; 0 while they are not known.
  double cpu() const noexcept { return cpu_.load(std::memory_order_relaxed); }
  double gpu() const noexcept { return gpu_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> cpu_{0}, gpu_{0};
  std::thread thread_;
};

}  // namespace lensd
