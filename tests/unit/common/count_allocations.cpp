#include "tests/unit/common/count_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/base/sanitizer.hpp"

namespace {
std::atomic<bool> g_counting{false};
std::atomic<int64_t> g_mallocs{0}, g_news{0};
}  // namespace

namespace lensd {

void start_counting() {
  g_mallocs = g_news = 0;
  g_counting = true;
}

Allocations stop_counting() {
  g_counting = false;
  return {g_mallocs.load(), g_news.load()};
}

#if LENSD_ADDRESS_SANITIZER || LENSD_THREAD_SANITIZER
const bool kCountsAllocations = false;
}  // namespace lensd
#else
const bool kCountsAllocations = true;
}  // namespace lensd

extern "C" void* __libc_malloc(size_t);  // NOLINT: glibc's name of the replaced function
extern "C" void* malloc(size_t bytes) {
  if (g_counting.load(std::memory_order_relaxed)) g_mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

void* operator new(size_t bytes) {
  if (g_counting.load(std::memory_order_relaxed)) g_news.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
#endif
