// CPU worker threads for row bands, on oneTBB.
//
//   executor ── run(items, grain, body) ──▶ bands [begin, end) on up to `threads` threads ──▶ returns when
//   done
//
// The result never depends on the number of threads: bodies write disjoint rows and add integers.
#pragma once

#include <functional>
#include <memory>

namespace lensd {

/// A range of rows (or of whatever items a pass counts) for one call of a body.
struct Band {
  int begin = 0, end = 0;
};

class Workers {
 public:
  /// `threads` 0 takes one per core. The calling thread is one of them.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const noexcept { return threads_; }

  /// Calls `body(context, band, worker)` for bands that cover [0, items) once, of `grain` items or a
  /// multiple; `worker` is below threads() and unique among the calls running at the same time.
  /// Allocates nothing after the first call; not to be called from two threads at once.
  using Body = void (*)(void* context, Band band, int worker);
  void run(int items, int grain, Body body, void* context);

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace lensd
