// Counts every allocation of the process between two calls, from any thread. The .cpp replaces malloc and
// operator new; under sanitizers, which do that themselves, nothing is counted.
#pragma once

#include <cstdint>

namespace lensd {

struct Allocations {
  int64_t mallocs = 0;  ///< operator new included
  int64_t news = 0;     ///< of them, through operator new
};

extern const bool kCountsAllocations;
void start_counting();
Allocations stop_counting();

}  // namespace lensd
