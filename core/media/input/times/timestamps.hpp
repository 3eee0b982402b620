// Converts a file's timestamps to strictly increasing presentation times.
//
//   raw time (or none) ──▶ normalize() ──▶ pts_ns ≥ 0, strictly increasing from the first frame
//
// A time that is missing or not after the previous one is replaced by the previous time plus the nominal
// duration. If several times in a row are late, frames follow at half the nominal duration until they catch
// up. After a jump backwards of more than a second (a joined file, a wrapped clock), all further times are
// shifted so that they continue after the previous time. The same applies after a jump forward of more than
// 12 hours: if the timestamps of an MPEG stream start again at 0, FFmpeg assumes a wrapped clock and adds
// 26.5 hours. Other gaps forward are kept. Implausible times count as missing.
#pragma once

#include <cstdint>
#include <optional>

namespace lensd {

/// Returns true if a time after `last_ns` begins another part of the file.
constexpr bool is_jump(int64_t pts_ns, int64_t last_ns) noexcept {
  constexpr int64_t kBackNs = 1'000'000'000, kForwardNs = 12 * 3600 * kBackNs;
  return pts_ns < last_ns - kBackNs || pts_ns > last_ns + kForwardNs;
}

class TimestampNormalizer {
 public:
  /// `nominal_ns`: duration of a frame, greater than 0.
  explicit TimestampNormalizer(int64_t nominal_ns = 40'000'000) : nominal_ns_(nominal_ns) {}

  /// Returns the presentation time of the next frame.
  int64_t normalize(std::optional<int64_t> raw_ns);

  /// Call after a seek. If the next frame has no time, its presentation time is `position_ns`.
  void restart(int64_t position_ns);

  /// Returns the raw time that corresponds to pts_ns 0, or nullopt before the first frame with a time.
  std::optional<int64_t> origin_ns() const { return origin_ns_; }
  /// Returns the sum of the shifts after jumps backwards, since the last restart().
  int64_t offset_ns() const { return offset_ns_; }
  int64_t nominal_ns() const { return nominal_ns_; }

 private:
  int64_t after_jump(int64_t raw_ns);
  int64_t late_time(int64_t pts);

  int64_t nominal_ns_;
  std::optional<int64_t> origin_ns_;
  int64_t offset_ns_ = 0;
  int64_t next_ns_ = 0;  ///< presentation time for a frame without a time
  int64_t last_ns_ = -1;
  int late_ = 0;         ///< number of late frames in a row
  int64_t late_ns_ = 0;  ///< own time of the last one
};

}  // namespace lensd
