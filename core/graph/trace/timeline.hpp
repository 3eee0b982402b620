// Timeline of the last seconds: intervals of stages and kernels, and counters such as queue depths.
//
//   pipeline, executors, viewer ── record(), sample() ──▶ ring of slots ──▶ intervals(), samples()
//                                                                            │
//   --trace, control, flight recorder ◀── chrome_trace() ◀───────────────────┘
//
// Thread-safe; record() and sample() are wait-free. Each slot has a sequence number before and after its
// values, so that a reader can skip slots that are being overwritten.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

class Timeline {
 public:
  /// Number of entries: enough for 10 s at 60 frames per second with 100 entries per frame.
  static constexpr size_t kSlots = 1 << 16;

  /// Registers a row of the trace: a thread or a CUDA stream. Returns its id. Locks and allocates.
  int track(const std::string& name);
  /// Registers a label of intervals or a counter's name. Returns its id. Locks and allocates.
  int label(const std::string& name);
  using Label = std::shared_ptr<const int>;
  /// Registers a label of a plan's intervals ("median/rows"). Returns a handle to its number. The number is
  /// reused after all handles are destroyed and the ring has no interval with the label; see kMaxLabels for
  /// an exception. Locks and allocates.
  Label plan_label(const std::string& name);

  /// Records an interval. `frame` is FrameInfo::index; negative: the interval does not belong to a frame.
  void record(int track, int label, int64_t frame, int64_t begin_ns, int64_t end_ns) noexcept;
  /// Records that a counter, such as a queue's depth, has this value from `time_ns` on.
  void sample(int counter, int64_t value, int64_t time_ns) noexcept;

  struct Interval {
    std::string track, label;
    int64_t frame = 0, begin_ns = 0, end_ns = 0;
  };
  struct Sample {
    std::string counter;
    int64_t value = 0, time_ns = 0;
  };
  /// Returns the intervals that ended at `since_ns` or later, sorted by begin time, enclosing intervals
  /// first.
  std::vector<Interval> intervals(int64_t since_ns = INT64_MIN) const;
  /// Returns the samples from `since_ns` on, sorted by time.
  std::vector<Sample> samples(int64_t since_ns = INT64_MIN) const;
  using Notes = std::vector<std::pair<std::string, std::string>>;
  /// Returns intervals and samples in the Trace Event Format (JSON), which Perfetto and chrome://tracing
  /// load. Writes `notes` to its "otherData".
  std::string chrome_trace(int64_t since_ns = INT64_MIN, const Notes& notes = {}) const;

 private:
  static constexpr int kCounter = -1;  ///< value of Slot::track for a counter's sample
  struct Slot {
    std::atomic<uint64_t> before{0}, after{0};
    std::atomic<int> track{0}, label{0};
    std::atomic<int64_t> frame{0}, begin{0}, end{0};
  };
  struct Entry {
    int track = 0, label = 0;
    int64_t frame = 0, begin_ns = 0, end_ns = 0;
  };
  struct Name {
    std::string text;
    Label number;                   ///< shared with each handle
    bool permanent = false;         ///< registered by label()
    uint64_t unused_since = kUsed;  ///< value of `next_` when the label was first found without handles
  };
  static constexpr uint64_t kUsed = UINT64_MAX;
  /// From this number of labels on, unused labels are reused even if the ring has intervals with them.
  static constexpr size_t kMaxLabels = 1 << 14;

  std::vector<Entry> entries(int64_t since_ns) const;

  mutable std::mutex mutex_;  ///< protects tracks_ and labels_
  std::vector<std::string> tracks_;
  std::vector<Name> labels_;
  std::unique_ptr<std::array<Slot, kSlots>> slots_ = std::make_unique<std::array<Slot, kSlots>>();
  std::atomic<uint64_t> next_{0};
};

}  // namespace lensd
