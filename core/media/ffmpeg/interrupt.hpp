// Interrupts FFmpeg's blocking calls by a flag or at a deadline on the monotonic clock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "core/base/clock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Interrupts reading. Any thread may set the flags.
struct StopFlags {
  std::atomic<bool> interrupted{false};          ///< a Source sets it in interrupt() and clears it in next()
  const std::atomic<bool>* cancelled = nullptr;  ///< SourceOptions::cancel
  /// Opening a pipe is interrupted at this time; 0: never. Not thread-safe: used by the reading thread only.
  int64_t deadline_ns = 0;
  /// Counter that increases while the reading thread waits for data from a server or a pipe.
  mutable std::atomic<uint64_t> waits{0};

  bool late() const noexcept { return deadline_ns != 0 && now_ns() > deadline_ns; }
  bool raised() const noexcept {
    return interrupted.load(std::memory_order_relaxed) ||
           (cancelled && cancelled->load(std::memory_order_relaxed)) || late();
  }
  void count_wait() const noexcept { waits.fetch_add(1, std::memory_order_relaxed); }
};

/// An interrupt callback for FFmpeg with a deadline. Must outlive every context that uses its callback().
/// Thread-safe.
class IoDeadline {
 public:
  /// `stop` may be null and must outlive this object.
  explicit IoDeadline(const StopFlags* stop) : stop_(stop) {}
  /// Makes blocking calls fail `ns` nanoseconds from now.
  void set(int64_t ns) noexcept { deadline_ns_.store(now_ns() + ns, std::memory_order_relaxed); }
  /// Makes blocking calls fail `ns` nanoseconds from now, even if set() is called later.
  void set_final(int64_t ns) noexcept { final_ns_.store(now_ns() + ns, std::memory_order_relaxed); }
  bool expired() const noexcept {
    return now_ns() >
           std::min(deadline_ns_.load(std::memory_order_relaxed), final_ns_.load(std::memory_order_relaxed));
  }
  AVIOInterruptCB callback() noexcept { return {interrupted, this}; }

 private:
  static int interrupted(void* self) noexcept {
    const auto& deadline = *static_cast<const IoDeadline*>(self);
    if (deadline.stop_) deadline.stop_->count_wait();  // FFmpeg calls this regularly while it waits
    return (deadline.stop_ && deadline.stop_->raised()) || deadline.expired() ? 1 : 0;
  }

  const StopFlags* stop_;
  std::atomic<int64_t> deadline_ns_{std::numeric_limits<int64_t>::max()};
  std::atomic<int64_t> final_ns_{std::numeric_limits<int64_t>::max()};
};

}  // namespace lensd
