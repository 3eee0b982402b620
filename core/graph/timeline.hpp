// Timeline: the last few thousand stage and kernel intervals, for traces.
//
//   decode, executors, present ── record() ──▶ ring of slots ──▶ chrome_trace() ── --trace, flight recorder
//
// record() is wait-free, from any thread. A reader may meet a slot that is being overwritten; each slot
// carries its sequence number before and after, and torn slots are left out.
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
  static constexpr size_t kSlots = 1 << 15;

  /// A row of the trace: a thread or a CUDA stream. Set-up only.
  int track(const std::string& name);
  /// A label of intervals: "median/rows". Set-up only.
  int label(const std::string& name);

  void record(int track, int label, int64_t frame, int64_t begin_ns, int64_t end_ns) noexcept;

  struct Interval {
    std::string track, label;
    int64_t frame = 0, begin_ns = 0, end_ns = 0;
  };
  /// Oldest first; at most kSlots.
  std::vector<Interval> intervals() const;
  /// Chrome trace event format (JSON), as Perfetto and chrome://tracing load it: complete events, one track a
  /// thread or stream, flow arrows that link the intervals of one frame.
  std::string chrome_trace() const;

 private:
  struct Slot {
    std::atomic<uint64_t> before{0}, after{0};
    std::atomic<int> track{0}, label{0};
    std::atomic<int64_t> frame{0}, begin{0}, end{0};
  };
  static int intern(std::vector<std::string>& names, const std::string& name);

  mutable std::mutex mutex_;  ///< names only
  std::vector<std::string> tracks_, labels_;
  std::unique_ptr<std::array<Slot, kSlots>> slots_ = std::make_unique<std::array<Slot, kSlots>>();
  std::atomic<uint64_t> next_{0};
};

}  // namespace lensd
