// What this process takes of the machine, as the kernel counts it.
#pragma once

#include <cstdint>

namespace lensd {

struct ProcessUsage {
  int64_t resident_bytes = 0;
  int threads = 0, descriptors = 0;
  double cpu_seconds = 0;
};

/// Reads /proc/self; zeros where that is not to be had.
ProcessUsage process_usage();

}  // namespace lensd
