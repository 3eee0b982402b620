#include "core/control/process_usage.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace lensd {
namespace {

/// Returns the number of entries, or 0 if the folder cannot be read. Does not use std::filesystem, which
/// would terminate the process if an allocation fails.
int count_entries(const char* folder) {
  DIR* const entries = opendir(folder);
  if (!entries) return 0;
  int count = 0;
  while (const dirent* entry = readdir(entries))
    if (entry->d_name[0] != '.') ++count;
  closedir(entries);
  return count;
}

}  // namespace

ProcessUsage process_usage() {
  ProcessUsage usage;
  int64_t pages = 0, resident = 0;
  if (std::ifstream statm("/proc/self/statm"); statm >> pages >> resident)
    usage.resident_bytes = resident * sysconf(_SC_PAGESIZE);
  usage.threads = count_entries("/proc/self/task");
  usage.descriptors = count_entries("/proc/self/fd");
  if (usage.descriptors > 0) --usage.descriptors;  // do not count opendir()'s descriptor
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
