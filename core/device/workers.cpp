#include "core/device/workers.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/base/sanitizer.hpp"

#if LENSD_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace lensd {
namespace {

// The caller's code before run() happens before all bands, and all bands happen before its code after run().
// ThreadSanitizer cannot detect this order itself, because the distribution's oneTBB is not instrumented.
#if LENSD_THREAD_SANITIZER
void publish(void* of) {
  __tsan_release(of);
}
void observe(void* of) {
  __tsan_acquire(of);
}
#else
void publish(void*) {}
void observe(void*) {}
#endif

}  // namespace

struct Workers::Arena {
  explicit Arena(int threads) : arena(threads, 1) {
    // Set a limit only to raise oneTBB's default. The lowest limit applies to the whole process: the limit of
    // a small executor, such as the executor of the thumbnails, would serialize the work of other executors.
    if (threads > tbb::info::default_concurrency())
      limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  }
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

Workers::Workers(int threads)
    : threads_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
      arena_(std::make_unique<Arena>(threads_)) {}

Workers::~Workers() = default;

void Workers::run(int items, int grain, Body body, void* context) {
  if (items <= 0) return;
  grain = std::max(1, grain);
  if (threads_ == 1 || items <= grain) {
    body(context, {0, items}, 0);
    return;
  }
  // Use several bands per thread to balance the load. Each band is a whole number of grains.
  const int grains = (items + grain - 1) / grain;
  const int bands = std::min(grains, threads_ * 4);
  char begun = 0, finished = 0;
  publish(&begun);
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, bands,
        [&](int i) {
          observe(&begun);
          const auto edge = [&](int n) {
            return static_cast<int>(
                std::min<int64_t>(items, static_cast<int64_t>(grains) * n / bands * grain));
          };
          body(context, {edge(i), edge(i + 1)}, tbb::this_task_arena::current_thread_index());
          publish(&finished);
        },
        tbb::simple_partitioner());
  });
  observe(&finished);
}

}  // namespace lensd
