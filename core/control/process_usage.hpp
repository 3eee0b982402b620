// Memory, threads, descriptors and CPU time of this process.
#pragma once

#include <cstdint>

namespace lensd {

struct ProcessUsage {
  int64_t resident_bytes = 0;
  int threads = 0, descriptors = 0;
  double cpu_seconds = 0;
};

/// Reads /proc/self and calls getrusage(). Members that cannot be read are 0.
ProcessUsage process_usage();

}  // namespace lensd
