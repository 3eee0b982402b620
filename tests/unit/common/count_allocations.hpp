// Counts every allocation of the process between two calls, from any thread. The .cpp replaces malloc and
// operator new. Under sanitizers, which replace them too, nothing is counted.
#pragma once

#include <cstdint>

namespace lensd {

struct Allocations {
  int64_t mallocs = 0;  ///< operator new included
  int64_t news = 0;     ///< those through operator new
};

extern const bool kCountsAllocations;
void start_counting();
Allocations stop_counting();

}  // namespace lensd
