// Reads the current clock rates of CPU and GPU. They change with load and temperature, and timings depend on
// them.
//
//   sysfs or /proc/cpuinfo ── cpu_clock() ─────────┐
//   NVML, loaded at run time ── GpuClockMonitor ───┴▶ ClockSpeed
//
// Reading a clock takes from tens of microseconds to milliseconds. Do not read it per frame.
#pragma once

#include <string>

namespace lensd {

struct ClockSpeed {
  int mhz = 0;         ///< 0: unknown
  std::string reason;  ///< source of the value, or why it is unknown; a sentence without a full stop
};

/// Returns the clock of the fastest core. Tests pass other paths. Thread-safe.
ClockSpeed cpu_clock(const std::string& sys_cpu = "/sys/devices/system/cpu",
                     const std::string& cpuinfo = "/proc/cpuinfo");

/// Reads the graphics clock of a GPU through NVML, which is loaded at run time. Not thread-safe.
class GpuClockMonitor {
 public:
  /// `pci_bus_id` is as in CudaStatus. Does not throw; if NVML cannot be used, read() returns the reason.
  explicit GpuClockMonitor(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  ~GpuClockMonitor();
  GpuClockMonitor(const GpuClockMonitor&) = delete;
  GpuClockMonitor& operator=(const GpuClockMonitor&) = delete;

  /// Returns the current clock, or 0 MHz with the reason. Does not throw.
  ClockSpeed read() const;

 private:
  void open(const std::string& pci_bus_id, const char* library);

  void* library_ = nullptr;
  void* device_ = nullptr;
  bool initialised_ = false;
  std::string problem_;  ///< why NVML cannot be used; empty if it can
};

}  // namespace lensd
