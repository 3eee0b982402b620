#include "core/device/clock_speed.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Returns the highest scaling_cur_freq in MHz; 0 if there is none.
int from_sysfs(const std::string& sys_cpu) {
  long highest = 0;
  std::error_code error;
  for (fs::directory_iterator entry(sys_cpu, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("cpu")) continue;
    long khz = 0;
    if (std::ifstream file(entry->path() / "cpufreq" / "scaling_cur_freq"); file >> khz)
      highest = std::max(highest, khz);
  }
  return static_cast<int>((highest + 500) / 1000);
}

/// Returns the highest "cpu MHz"; 0 if there is no such line, as on Arm.
int from_cpuinfo(const std::string& cpuinfo) {
  std::ifstream file(cpuinfo);
  double highest = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos)
      highest = std::max(highest, std::strtod(line.c_str() + colon + 1, nullptr));
  }
  return static_cast<int>(std::lround(highest));
}

// NVML's stable ABI: functions return an int, 0 for success; devices are opaque pointers.
using Init = int (*)();
using Shutdown = int (*)();
using HandleByBus = int (*)(const char*, void**);
using ClockInfo = int (*)(void*, int, unsigned*);
using ErrorString = const char* (*)(int);
constexpr int kGraphicsClock = 0;

template <class F>
F symbol(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

std::string error_text(void* library, int result) {
  const auto text = symbol<ErrorString>(library, "nvmlErrorString");
  const char* message = text ? text(result) : nullptr;
  return message ? message : fmt::format("error {}", result);
}

}  // namespace

ClockSpeed cpu_clock(const std::string& sys_cpu, const std::string& cpuinfo) {
  if (const int mhz = from_sysfs(sys_cpu); mhz > 0)
    return {mhz, "Fastest core, from the kernel's frequency scaling"};
  if (const int mhz = from_cpuinfo(cpuinfo); mhz > 0)
    return {mhz, "Fastest core, from /proc/cpuinfo; in a virtual machine often the nominal clock"};
  return {0, "The kernel reports no clock: no cpufreq in /sys and no \"cpu MHz\" in /proc/cpuinfo"};
}

GpuClockMonitor::GpuClockMonitor(const std::string& pci_bus_id, const char* library) {
  open(pci_bus_id, library);
}

void GpuClockMonitor::open(const std::string& pci_bus_id, const char* library) {
  if (pci_bus_id.empty()) return void(problem_ = "The graph does not run on a GPU");
  library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!library_) return void(problem_ = fmt::format("The driver's library {} is missing", library));
  const auto init = symbol<Init>(library_, "nvmlInit_v2");
  const auto handle = symbol<HandleByBus>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !handle || !symbol<ClockInfo>(library_, "nvmlDeviceGetClockInfo"))
    return void(problem_ = fmt::format("{} lacks a required function: the driver is too old", library));
  if (const int result = init(); result != 0)
    return void(problem_ = "NVML does not start: " + error_text(library_, result));
  initialised_ = true;
  if (const int result = handle(pci_bus_id.c_str(), &device_); result != 0)
    problem_ = fmt::format("NVML does not know the GPU at {}: {}", pci_bus_id, error_text(library_, result));
}

GpuClockMonitor::~GpuClockMonitor() {
  if (initialised_)
    if (const auto shutdown = symbol<Shutdown>(library_, "nvmlShutdown")) shutdown();
  if (library_) dlclose(library_);
}

ClockSpeed GpuClockMonitor::read() const {
  if (!problem_.empty()) return {0, problem_};
  unsigned mhz = 0;
  const auto clock = symbol<ClockInfo>(library_, "nvmlDeviceGetClockInfo");
  if (const int result = clock(device_, kGraphicsClock, &mhz); result != 0)
    return {0, "NVML does not report the clock: " + error_text(library_, result)};
  return {static_cast<int>(mhz), "Current graphics clock, from NVML"};
}

}  // namespace lensd
