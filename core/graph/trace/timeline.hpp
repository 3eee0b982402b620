// Timeline: the last seconds of stage and kernel intervals and of queue depths, for traces.
//
//   decode, executors, present ── record(), sample() ──▶ ring of slots ──▶ intervals(), samples()
//                                                                           │
//                                                 chrome_trace() ◀──────────┘ ── --trace, flight recorder
//
// record() and sample() are wait-free, from any thread. A reader may meet a slot that is being overwritten;
// each slot carries its sequence number before and after, and torn slots are left out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lensd {

class Timeline {
 public:
  /// More than 10 s of 60 frames a second with a hundred entries each.
  static constexpr size_t kSlots = 1 << 16;

  /// A row of the trace: a thread or a CUDA stream. Set-up only.
  int track(const std::string& name);
  /// A label of intervals: "median/rows". Set-up only.
  int label(const std::string& name);
  /// A number that changes over time: a queue's depth. Set-up only.
  int counter(const std::string& name);

  /// `frame` is the source's number of it; negative: the interval belongs to no frame.
  void record(int track, int label, int64_t frame, int64_t begin_ns, int64_t end_ns) noexcept;
  /// The counter's value from `time_ns` on.
  void sample(int counter, int64_t value, int64_t time_ns) noexcept;

  struct Interval {
    std::string track, label;
    int64_t frame = 0, begin_ns = 0, end_ns = 0;
  };
  struct Sample {
    std::string counter;
    int64_t value = 0, time_ns = 0;
  };
  /// Those that ended at `since_ns` or later, by their beginning, enclosing ones first; with the samples at
  /// most kSlots.
  std::vector<Interval> intervals(int64_t since_ns = INT64_MIN) const;
  std::vector<Sample> samples(int64_t since_ns = INT64_MIN) const;
  /// What there is since then as a trace, see chrome_trace.hpp.
  std::string chrome_trace(int64_t since_ns = INT64_MIN) const;

 private:
  static constexpr int kCounter = -1;  ///< the track of samples
  struct Slot {
    std::atomic<uint64_t> before{0}, after{0};
    std::atomic<int> track{0}, label{0};
    std::atomic<int64_t> frame{0}, begin{0}, end{0};
  };
  struct Entry {
    int track = 0, label = 0;
    int64_t frame = 0, begin_ns = 0, end_ns = 0;
  };
  static int intern(std::vector<std::string>& names, const std::string& name);
  std::vector<Entry> entries(int64_t since_ns) const;

  mutable std::mutex mutex_;  ///< names only
  std::vector<std::string> tracks_, labels_;
  std::unique_ptr<std::array<Slot, kSlots>> slots_ = std::make_unique<std::array<Slot, kSlots>>();
  std::atomic<uint64_t> next_{0};
};

}  // namespace lensd
