// How fast the processors run at the moment: timings mean little without it, since clocks follow load and
// heat.
//
//   sysfs or /proc/cpuinfo ── cpu_clock() ──┐
//   NVML, loaded at run time ── GpuClockMonitor ───┴▶ ClockSpeed
//
// Reading takes tens of microseconds to milliseconds: for a slow thread, not for one that frames wait for.
#pragma once

#include <string>

namespace lensd {

struct ClockSpeed {
  int mhz = 0;         ///< 0: not known
  std::string reason;  ///< where the number comes from, or why there is none; a sentence without full stop
};

/// Of the fastest core. The paths are the kernel's; tests give their own.
ClockSpeed cpu_clock(const std::string& sys_cpu = "/sys/devices/system/cpu",
                     const std::string& cpuinfo = "/proc/cpuinfo");

/// The graphics clock of the GPU at a PCI address, by the driver's own library, which is no dependency of
/// this program. One thread at a time.
class GpuClockMonitor {
 public:
  /// `pci_bus_id` as in CudaStatus. Never throws: what is missing is told by read().
  explicit GpuClockMonitor(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  ~GpuClockMonitor();
  GpuClockMonitor(const GpuClockMonitor&) = delete;
  GpuClockMonitor& operator=(const GpuClockMonitor&) = delete;

  ClockSpeed read() const;

 private:
  void open(const std::string& pci_bus_id, const char* library);

  void* library_ = nullptr;
  void* device_ = nullptr;
  bool begun_ = false;
  std::string obstacle_;  ///< empty: it can be read
};

}  // namespace lensd
