// Timing scopes: "node/pass" → a ring of durations, with percentiles made by the reader.
//
//   executors, decode, present ── record(scope, ns) ──▶ ring of atomics ──▶ snapshot() ── panel, --timings
//
// record() is wait-free and may be called by one thread per scope; scope() and snapshot() take a lock that
// record() never takes. CUDA durations arrive frames late; a scope nobody recorded has count 0, shown as n/a.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lensd {

/// The node under which a frame's way is kept, a scope a stage: no work but the time between two stamps.
inline constexpr const char* kLatencyRow = "latency";

/// One row of the timings table. Times in nanoseconds over the last `samples` records.
struct PassStats {
  std::string node, pass;
  double bytes = 0, operations = 0;  ///< declared by the pass, a frame
  uint64_t count = 0;                ///< records so far; 0: nothing was measured
  int samples = 0;
  int64_t last_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, max_ns = 0, mean_ns = 0;
  bool active = true;  ///< part of the plan that runs now
  bool gpu = false;    ///< measured on the GPU
};

class Profiler {
 public:
  static constexpr int kRing = 256;
  static constexpr int kMaxScopes = 512;

  /// The scope of that name, made on first use. Throws Error when kMaxScopes are in use.
  int scope(const std::string& node, const std::string& pass, double bytes = 0, double operations = 0,
            bool gpu = false);
  /// Marks all scopes but those of `keep_nodes` as not part of the running plan.
  void deactivate_all_but(const std::vector<std::string>& keep_nodes);

  /// Upper bounds of the histogram's buckets in nanoseconds; the last bucket has none.
  static constexpr std::array<int64_t, 16> kBuckets{
      10'000,    25'000,     50'000,     100'000,    250'000,     500'000,     1'000'000,   2'500'000,
      5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000, 250'000'000, 500'000'000, 1'000'000'000};

  void record(int scope, int64_t duration_ns) noexcept {
    Ring& ring = *rings_[static_cast<size_t>(scope)];
    size_t bucket = 0;
    while (bucket < kBuckets.size() && duration_ns > kBuckets[bucket]) ++bucket;
    // One writer: plain adding without an atomic read-modify-write.
    const auto add = [](auto& counter, auto value) {
      counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    };
    add(ring.buckets[bucket], uint64_t{1});
    add(ring.sum_ns, duration_ns);
    const uint64_t n = ring.count.load(std::memory_order_relaxed);
    ring.samples[n % kRing].store(duration_ns, std::memory_order_relaxed);
    ring.count.store(n + 1, std::memory_order_release);
  }

  /// All records of a scope since the start.
  struct Histogram {
    std::string node, pass;
    bool active = true, gpu = false;
    std::array<uint64_t, kBuckets.size() + 1> counts{};  ///< in each bucket by itself
    int64_t sum_ns = 0;
  };
  std::vector<Histogram> histograms() const;

  /// Rows in the order in which the scopes were made.
  std::vector<PassStats> snapshot() const;
  /// The newest durations of a scope, oldest first.
  std::vector<int64_t> history(const std::string& node, const std::string& pass) const;

 private:
  struct Ring {
    std::string node, pass;
    double bytes = 0, operations = 0;
    bool active = true, gpu = false;
    std::atomic<uint64_t> count{0};
    std::array<std::atomic<int64_t>, kRing> samples{};
    std::array<std::atomic<uint64_t>, kBuckets.size() + 1> buckets{};
    std::atomic<int64_t> sum_ns{0};
  };
  const Ring* find(const std::string& node, const std::string& pass) const;
  static std::vector<int64_t> newest(const Ring& ring);

  mutable std::mutex mutex_;
  std::array<std::unique_ptr<Ring>, kMaxScopes> rings_;
  int used_ = 0;
};

}  // namespace lensd
