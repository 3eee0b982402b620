// Presentation times that rise strictly, from the times that a file claims.
//
//   raw time (or none) ──▶ normalize() ──▶ pts_ns ≥ 0 from the first frame, strictly rising
//
// Missing and repeated times continue with the nominal duration, and so do jumps backwards of more than a
// second (a joined file, a wrapped clock). Gaps forward are kept.
#pragma once

#include <cstdint>
#include <optional>

namespace lensd {

class TimestampNormalizer {
 public:
  /// `nominal_ns`: duration of a frame, above 0.
  explicit TimestampNormalizer(int64_t nominal_ns = 40'000'000) : nominal_ns_(nominal_ns) {}

  int64_t normalize(std::optional<int64_t> raw_ns);

  /// After a seek: the next frame is at `position_ns` if it has no time.
  void restart(int64_t position_ns);

  /// Raw time of the first frame, which has pts_ns 0. Returns nullopt before the first frame with a time.
  std::optional<int64_t> origin_ns() const { return origin_ns_; }
  int64_t nominal_ns() const { return nominal_ns_; }

 private:
  int64_t nominal_ns_;
  std::optional<int64_t> origin_ns_;
  int64_t offset_ns_ = 0;  ///< sum of the jumps backwards
  int64_t next_ns_ = 0;    ///< for a frame without a time
  int64_t last_ns_ = -1;
};

}  // namespace lensd
