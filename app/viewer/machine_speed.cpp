#include "app/viewer/machine_speed.hpp"

#include <chrono>
#include <optional>

#include "core/device/copy_rate.hpp"

namespace lensd {

MachineSpeed::MachineSpeed(Backend backend, int device, int threads)
    : backend_(backend), thread_([this, device, threads] { run(device, threads); }) {}

MachineSpeed::~MachineSpeed() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void MachineSpeed::show_clocks(bool shown) {
  {
    const std::lock_guard lock(mutex_);
    if (clocks_shown_ == shown) return;
    clocks_shown_ = shown;
  }
  changed_.notify_all();
}

void MachineSpeed::run(int device, int threads) {
  const bool cuda = backend_ == Backend::cuda;
  const double rate = cuda ? measure_gpu_copy_rate(device) : measure_cpu_copy_rate(threads);
  std::optional<GpuClockMonitor> gpu;
  std::unique_lock lock(mutex_);
  (cuda ? gpu_copy_rate_ : cpu_copy_rate_) = rate;
  while (true) {
    changed_.wait(lock, [&] { return clocks_shown_ || ending_; });
    if (ending_) return;
    lock.unlock();
    // Open the GPU clock monitor on first use, because most runs never show the clocks.
    if (!gpu) gpu.emplace(cuda ? probe_cuda(device).pci_bus_id : std::string());
    ClockSpeed cpu_speed = lensd::cpu_clock(), gpu_speed = gpu->read();
    lock.lock();
    cpu_clock_ = std::move(cpu_speed), gpu_clock_ = std::move(gpu_speed);
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return ending_; });
  }
}

}  // namespace lensd
