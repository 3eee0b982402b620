// Computes how long after its timestamp the sound of a live stream is played.
//
//   arrivals of audio packets and pictures ──▶ PlayoutDelay ──▶ target_ns()
//
// The sound of timestamp T is heard at T + target_ns(), and T's picture is shown then.
//
// The delay of a packet is its arrival minus its timestamp. The target covers the largest delay of the last
// kWindowNs to 2 · kWindowNs, because the delays in a network vary. Packets whose delay is more than
// kMaxJitterNs greater than the smallest delay do not count, because they follow an outage. If all packets of
// kRestartNs are that late, the measurement starts again, because the sender's times have moved. Callers pass
// the time. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"

namespace lensd {

class PlayoutDelay {
 public:
  static constexpr int64_t kWindowNs = 5'000'000'000, kRestartNs = 1'000'000'000;
  static constexpr int64_t kMaxJitterNs = 400'000'000;  ///< maximum jitter of audio packets
  /// A picture does not count if its delay is greater than the smallest delay of the audio packets plus this.
  static constexpr int64_t kMaxAheadNs = 1'000'000'000;
  static constexpr int64_t kMarginNs = 20'000'000;
  /// Time from the arrival of a picture in which it can be processed and shown.
  static constexpr int64_t kPictureLeadNs = 30'000'000;

  void restart() { *this = {}; }

  /// Call for each audio packet with a timestamp.
  void audio(int64_t stream_ns, int64_t now_ns) {
    const int64_t delay_ns = now_ns - stream_ns;
    // The packets of a burst were held back until its last packet was sent. Count only the first one, which
    // waited longest.
    const bool together = now_ns - std::exchange(arrival_ns_, now_ns) < kTogetherNs;
    if (known() && together) return;
    if (!first_ns_) first_ns_ = now_ns;
    roll(now_ns);
    const int64_t base_ns = base();
    if (known() && (delay_ns < base_ns - kJumpNs || lost_track(delay_ns - base_ns, now_ns))) {
      restart();
      first_ns_ = window_ns_ = arrival_ns_ = now_ns;
    } else if (known() && delay_ns - base_ns > kMaxJitterNs) {
      return;
    } else if (known() && delay_ns < base_ns - kBurstNs && now_ns - first_ns_ < kBeginNs) {
      // The packets before this one waited in a buffer of the sender. Ignore their delays.
      now_ = before_ = {};
    }
    good_ns_ = now_ns;
    now_.add(delay_ns);
  }
  /// Call for each picture. Ignores the picture while no audio arrives.
  void picture(int64_t stream_ns, int64_t now_ns) {
    if (!known() || now_ns - arrival_ns_ > kRestartNs) return;
    const int64_t ahead_ns = now_ns - stream_ns - base();
    if (ahead_ns <= kMaxAheadNs) now_.picture_ns = std::max(now_.picture_ns, now_ns - stream_ns);
  }

  /// Returns the target in nanoseconds, which has the arbitrary origin of the timestamps; nullopt before the
  /// first packet. `output_ns`: time before a sample is heard at which it must be written to the output.
  std::optional<int64_t> target_ns(int64_t output_ns) const {
    if (!known()) return std::nullopt;
    const int64_t jitter = std::min(std::max(now_.most_ns, before_.most_ns), base() + kMaxJitterNs);
    const int64_t picture = std::max(now_.picture_ns, before_.picture_ns);
    return std::max(jitter + output_ns + kMarginNs, picture + kPictureLeadNs);
  }
  /// Returns the arrival of the first packet since the measurement started; 0: none.
  int64_t first_ns() const { return first_ns_; }

 private:
  /// Timestamps have jumped forward if a delay is shorter than the shortest one by more than this.
  static constexpr int64_t kJumpNs = 1'000'000'000;
  /// A delay that is shorter than the shortest one by more than this belongs to a burst.
  static constexpr int64_t kBurstNs = 10'000'000;
  /// A sender empties its buffer in this time after the first packet.
  static constexpr int64_t kBeginNs = 2'000'000'000;
  /// Packets that follow each other within this time arrive together.
  static constexpr int64_t kTogetherNs = 5'000'000;

  struct Window {
    int64_t least_ns = INT64_MAX, most_ns = kNone, picture_ns = kNone;
    void add(int64_t ns) { least_ns = std::min(least_ns, ns), most_ns = std::max(most_ns, ns); }
  };
  static constexpr int64_t kNone = INT64_MIN / 2;

  bool known() const { return std::min(now_.least_ns, before_.least_ns) != INT64_MAX; }
  int64_t base() const { return std::min(now_.least_ns, before_.least_ns); }
  /// Returns true if packets have been too late for kRestartNs.
  bool lost_track(int64_t late_ns, int64_t now_ns) const {
    return late_ns > kMaxJitterNs && now_ns - good_ns_ > kRestartNs;
  }
  void roll(int64_t now_ns) {
    if (window_ns_ == 0) window_ns_ = now_ns;
    if (now_ns - window_ns_ < kWindowNs || now_.least_ns == INT64_MAX) return;
    before_ = now_, now_ = {}, window_ns_ = now_ns;
  }

  Window now_, before_;
  int64_t window_ns_ = 0;  ///< start of now_
  int64_t first_ns_ = 0;
  int64_t arrival_ns_ = 0;  ///< arrival of the newest packet
  int64_t good_ns_ = 0;     ///< arrival of the newest packet that was not too late
};

}  // namespace lensd
