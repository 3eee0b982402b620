// Counts the calls of malloc and operator new between start_counting() and stop_counting(), on all threads.
// The .cpp file replaces both functions. Counts nothing under AddressSanitizer and ThreadSanitizer, which
// replace them too.
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
