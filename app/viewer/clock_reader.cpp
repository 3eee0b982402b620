#include "app/viewer/clock_reader.hpp"

#include <chrono>

namespace lensd {

ClockReader::ClockReader(Backend backend, int device)
    : thread_([this, backend, device] { run(backend, device); }) {}

ClockReader::~ClockReader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ClockReader::want(bool wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
  }
  changed_.notify_all();
}

ClockSpeed ClockReader::cpu() const {
  const std::lock_guard lock(mutex_);
  return cpu_;
}

ClockSpeed ClockReader::gpu() const {
  const std::lock_guard lock(mutex_);
  return gpu_;
}

void ClockReader::run(Backend backend, int device) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return wanted_ || ending_; });
  if (ending_) return;
  lock.unlock();
  // Opened only now: most runs never ask.
  const GpuClockMonitor clock(backend == Backend::cuda ? probe_cuda(device).pci_bus_id : std::string());
  lock.lock();
  while (!ending_) {
    if (wanted_) {
      lock.unlock();
      ClockSpeed cpu = cpu_clock(), gpu = clock.read();
      lock.lock();
      cpu_ = std::move(cpu), gpu_ = std::move(gpu);
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return ending_; });
    } else {
      changed_.wait(lock, [&] { return wanted_ || ending_; });
    }
  }
}

}  // namespace lensd
