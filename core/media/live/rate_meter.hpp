// Measures the rate at which a source delivers pictures, from the timestamps of the newest ones. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace lensd {

class RateMeter {
 public:
  void add(int64_t stamp_ns) noexcept {
    if (count_ > 0 && stamp_ns <= newest()) restart();  // the timestamps are from another clock
    stamps_[next_] = stamp_ns;
    next_ = (next_ + 1) % kStamps;
    count_ = std::min(count_ + 1, kStamps);
  }
  /// Call after a change of the mode, or after a gap that must not lower the rate.
  void restart() noexcept { count_ = 0; }

  /// Returns the pictures per second over the last kWindowNs, or 0 if that is not known.
  double rate() const noexcept {
    if (count_ < kFewest) return 0;
    // Find the oldest stamp in the window.
    size_t pictures = 1;
    while (pictures < count_ && newest() - at(pictures) <= kWindowNs) ++pictures;
    if (pictures < kFewest) return 0;
    const int64_t duration = newest() - at(pictures - 1);
    return static_cast<double>(pictures - 1) * 1e9 / static_cast<double>(duration);
  }

 private:
  static constexpr size_t kStamps = 512, kFewest = 5;
  static constexpr int64_t kWindowNs = 5'000'000'000;

  /// Returns the stamp of the picture `age` pictures before the newest one.
  int64_t at(size_t age) const noexcept { return stamps_[(next_ + kStamps - 1 - age) % kStamps]; }
  int64_t newest() const noexcept { return at(0); }

  std::array<int64_t, kStamps> stamps_ = {};
  size_t next_ = 0, count_ = 0;
};

}  // namespace lensd
