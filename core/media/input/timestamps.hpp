// Times of frames: a rising line made of whatever the file says.
//
//   raw time (or none), duration ──▶ place() ──▶ pts_ns ≥ 0 from the first frame, strictly rising
//
// Missing and repeated times continue with the nominal duration; a jump backwards of more than a second (a
// joined file, a wrapped clock) moves the line's origin so that playing goes on; gaps forward are kept.
#pragma once

#include <cstdint>
#include <optional>

namespace lensd {

class TimestampSmoother {
 public:
  /// `nominal_ns`: duration of a frame, above 0.
  explicit TimestampSmoother(int64_t nominal_ns = 40'000'000) : nominal_ns_(nominal_ns) {}

  int64_t place(std::optional<int64_t> raw_ns);

  /// After a seek: the next frame without a time of its own is at `position_ns`.
  void restart(int64_t position_ns);

  /// Raw time of the first frame, where pts_ns is 0; nothing before the first frame with a time.
  std::optional<int64_t> origin_ns() const { return origin_ns_; }
  int64_t nominal_ns() const { return nominal_ns_; }

 private:
  int64_t nominal_ns_;
  std::optional<int64_t> origin_ns_;
  int64_t moved_ns_ = 0;  ///< added to the origin by jumps backwards
  int64_t next_ns_ = 0;   ///< for a frame without a time
  int64_t last_ns_ = -1;
};

}  // namespace lensd
