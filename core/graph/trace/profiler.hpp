// Timing scopes: each "node/pass" has a ring of durations. Readers compute percentiles.
//
//   executors, pipeline, viewer ── record(scope, ns) ──▶ ring of atomics ──▶ snapshot() ── panel, control,
//                                                                                          --timings
//
// record() is wait-free; call it from one thread per scope. The other functions are thread-safe; they lock a
// mutex that record() does not use. CUDA durations arrive some frames late.
//
// A scope without handles is unused. Its durations are kept in case a later plan has the same pass. When more
// than kMaxUnused scopes are unused, the oldest are freed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lensd {

/// Node name of latency scopes, which measure the time between two stages of a frame.
inline constexpr const char* kLatencyRow = "latency";

/// Upper bounds of the histogram's buckets in nanoseconds; one more bucket is unbounded.
inline constexpr std::array<int64_t, 16> kDurationBuckets{
    10'000,    25'000,     50'000,     100'000,    250'000,     500'000,     1'000'000,   2'500'000,
    5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000, 250'000'000, 500'000'000, 1'000'000'000};

/// One row of the timings table. Times in nanoseconds over the last `samples` records.
struct PassStats {
  std::string node, pass;
  double bytes = 0, operations = 0;  ///< per frame, as declared in PassSpec
  uint64_t count = 0;                ///< number of records so far
  int samples = 0;
  int64_t last_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, max_ns = 0, mean_ns = 0;
  bool active = true;  ///< false: the pass is not part of the running plan
  bool gpu = false;    ///< measured on the GPU
  std::array<uint64_t, kDurationBuckets.size() + 1> buckets{};  ///< records in each bucket, not cumulative
  int64_t sum_ns = 0;                                           ///< sum of all records
};

class Profiler {
  struct Ring;

 public:
  static constexpr int kRing = 256;
  static constexpr size_t kMaxUnused = 256;

  /// A handle to a scope; null by default. record() requires a non-null handle. May outlive the profiler.
  using Scope = std::shared_ptr<Ring>;

  /// Returns the scope of this node and pass. Creates it on first use. Stores the declared work and sets
  /// PassStats::active to true.
  Scope scope(const std::string& node, const std::string& pass, double bytes = 0, double operations = 0,
              bool gpu = false);
  /// Like scope(), for a pass of a plan that may never run: keeps PassStats::active, which is false for a new
  /// scope. See activate().
  Scope plan_scope(const std::string& node, const std::string& pass, double bytes, double operations,
                   bool gpu);
  /// Sets PassStats::active: true for the scopes of the running plan and for those of `other_nodes`, false
  /// for all other scopes. Changes nothing if it throws.
  void activate(const std::vector<Scope>& of_plan, const std::vector<std::string>& other_nodes);

  void record(const Scope& scope, int64_t duration_ns) noexcept {
    Ring& ring = *scope;
    size_t bucket = 0;
    while (bucket < kDurationBuckets.size() && duration_ns > kDurationBuckets[bucket]) ++bucket;
    // A scope has one writer, so no atomic read-modify-write is needed.
    const auto add = [](auto& counter, auto value) {
      counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    };
    add(ring.buckets[bucket], uint64_t{1});
    add(ring.sum_ns, duration_ns);
    const uint64_t n = ring.count.load(std::memory_order_relaxed);
    ring.samples[n % kRing].store(duration_ns, std::memory_order_relaxed);
    ring.count.store(n + 1, std::memory_order_release);
  }

  /// Returns one row per scope, in the order of creation.
  std::vector<PassStats> snapshot() const;
  /// Returns up to kRing newest durations of a scope in nanoseconds, oldest first.
  std::vector<int64_t> history(const std::string& node, const std::string& pass) const;

 private:
  struct Ring {
    PassStats declared;  ///< names and declared work; no times
    std::atomic<uint64_t> count{0};
    std::array<std::atomic<int64_t>, kRing> samples{};
    std::array<std::atomic<uint64_t>, kDurationBuckets.size() + 1> buckets{};
    std::atomic<int64_t> sum_ns{0};
  };
  Scope find(const std::string& node, const std::string& pass) const;
  Scope declare(PassStats declared);
  void free_unused();
  static std::vector<int64_t> newest(const Ring& ring);

  mutable std::mutex mutex_;
  std::vector<Scope> rings_;  // in the order of creation
};

}  // namespace lensd
