#include "core/control/process_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace lensd {

ProcessUsage process_usage() {
  ProcessUsage usage;
  int64_t pages = 0, resident = 0;
  if (std::ifstream statm("/proc/self/statm"); statm >> pages >> resident)
    usage.resident_bytes = resident * sysconf(_SC_PAGESIZE);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error))
    usage.threads += entry.path().empty() ? 0 : 1;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    usage.descriptors += entry.path().empty() ? 0 : 1;
  if (usage.descriptors > 0) --usage.descriptors;  // the one that was used for counting
  rusage times{};
  if (getrusage(RUSAGE_SELF, &times) == 0) {
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    usage.cpu_seconds = seconds(times.ru_utime) + seconds(times.ru_stime);
  }
  return usage;
}

}  // namespace lensd
