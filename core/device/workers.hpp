// CPU worker threads for row bands, on oneTBB.
//
//   executor ── run(items, grain, body) ──▶ body(context, band, worker) on up to `threads` threads
//
// Results must not depend on the number of threads: bodies write disjoint rows and sum integers only.
#pragma once

#include <memory>

namespace lensd {

/// A range of rows, or of other items of a pass, for one call of a body.
struct Band {
  int begin = 0, end = 0;
};

class Workers {
 public:
  /// If `threads` is 0, uses one thread per core. The thread that calls run() is one of them.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const noexcept { return threads_; }

  using Body = void (*)(void* context, Band band, int worker);
  /// Calls `body(context, band, worker)` for bands that together cover [0, items) once. The length of
  /// each band but the last is a multiple of `grain`. `worker` is from 0 to threads() - 1 and unique among
  /// concurrent calls. Blocks until all bands are done. Allocates in the first call only. Call from one
  /// thread at a time.
  void run(int items, int grain, Body body, void* context);

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace lensd
