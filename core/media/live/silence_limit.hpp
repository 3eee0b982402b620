// Computes how long a live source may send no data before its connection counts as lost. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

class SilenceLimit {
 public:
  /// Sets no limit, for example for files.
  SilenceLimit() = default;
  /// For UDP, and for SRT if lensd is the caller, the limit is three picture intervals, at least 1 s and at
  /// most 10 s, unless the user has set a limit. Datagrams have no connection that could recover, so
  /// reopening early has no cost, and a killed SRT sender does not close its connection. An SRT listener does
  /// not use this limit: if it closes the connection, the caller takes seconds to connect again. For other
  /// sources, or if the interval is unknown, the limit is LiveOptions::silence_ns.
  SilenceLimit(const std::string& url, const LiveOptions& live)
      : limit_ns_(live.silence_ns),
        given_(live.silence_given),
        early_(!live.silence_given && sends_datagrams(url, live)) {}

  /// Maximum limit after allow_slow(), unless the user has set a longer one.
  static constexpr int64_t kSlowestNs = 600'000'000'000;

  /// Call for a stream over TCP without timestamps, such as Motion JPEG over HTTP: a camera may send a
  /// picture only every few minutes. Unless the user has set the limit, it is at least one minute until the
  /// interval of the pictures is known. Then it is three intervals, at least LiveOptions::silence_ns and at
  /// most kSlowestNs. Pass the arrival times to packet().
  void allow_slow() noexcept { slow_ = !given_; }

  /// Returns the limit; 0: none.
  int64_t ns() const noexcept {
    if (slow_ && steps_ < kKnownSteps) return std::max(limit_ns_, kSlowNs);
    if ((!early_ && !slow_) || interval_ns_ == 0) return limit_ns_;
    return std::clamp(kMissedIntervals * interval_ns_, slow_ ? limit_ns_ : kEarlyNs,
                      slow_ ? std::max(limit_ns_, kSlowestNs) : kLongestNs);
  }
  /// Makes the limit at least `ns`.
  void raise(int64_t ns) noexcept { limit_ns_ = std::max(limit_ns_, ns); }

  /// Measures the interval of pictures by the times of their packets, because their arrival is uneven.
  void packet(int64_t time_ns) noexcept {
    if (!plausible(time_ns)) return;
    const int64_t step = time_ns - packet_ns_;
    packet_ns_ = time_ns;
    if (!std::exchange(any_packet_, true) || step <= 0) return;  // reordered
    if (step > (slow_ ? kSlowestNs : kLongestNs)) return;        // a jump
    ++steps_;
    interval_ns_ = interval_ns_ > 0 ? interval_ns_ + (step - interval_ns_) / 8 : step;
  }

 private:
  static constexpr int64_t kEarlyNs = 1'000'000'000, kLongestNs = 10'000'000'000, kMissedIntervals = 3;
  static constexpr int64_t kSlowNs = 60'000'000'000;
  /// Number of intervals to measure: a camera may send its first picture twice.
  static constexpr int kKnownSteps = 8;

  static bool sends_datagrams(const std::string& url, const LiveOptions& live) {
    const std::string scheme = scheme_of(url);
    if (scheme != "srt") return scheme == "udp";
    const auto listens = [](const auto& option) {
      return option.first == "mode" && option.second == "listener";
    };
    return url.find("mode=listener") == std::string::npos && std::ranges::none_of(live.extra, listens);
  }

  int64_t limit_ns_ = 0, interval_ns_ = 0, packet_ns_ = 0;
  int64_t steps_ = 0;
  bool given_ = false, early_ = false, slow_ = false, any_packet_ = false;
};

}  // namespace lensd
