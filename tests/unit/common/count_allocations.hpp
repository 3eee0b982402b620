// Counts all allocations of the process between start_counting() and stop_counting(), on all threads. The
// .cpp file replaces malloc and operator new. Counts nothing under sanitizers, which replace them too.
#pragma once

#include <cstdint>

namespace lensd {

struct Allocations {
  int64_t mallocs = 0;  ///< calls of malloc, including those by operator new
  int64_t news = 0;     ///< calls of operator new
};

extern const bool kCountsAllocations;
void start_counting();
Allocations stop_counting();

}  // namespace lensd
