// Counters that several CPU workers add to.
#pragma once

#include <atomic>

namespace lensd {

/// Adds `part` to `total`. Thread-safe; other accesses of `total` need not be ordered.
template <class T>
void add_shared(T& total, T part) {
  if (part != 0) std::atomic_ref(total).fetch_add(part, std::memory_order_relaxed);
}

}  // namespace lensd
