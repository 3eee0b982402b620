// Places decoded sound on the output's timeline, and measures when it is heard.
//
//   start(): presentation time P should be heard at W
//   place(): silence to insert, or frames to skip, so that the next frame is heard on time
//   corrected(), written(), lost(): called after a correction, after writing, and after missing frames
//   pts_ns(), wall_ns(): P is heard at W', the measured and smoothed time, which the pictures follow
//
// Small deviations come from the drift of the device's clock; the pictures follow them. A larger deviation, a
// gap in the audio or late data is corrected by silence or skipped frames. Not thread-safe.
#pragma once

#include <cstdlib>

#include "core/media/sound/sound_format.hpp"

namespace lensd {

class SoundPlacer {
 public:
  static constexpr int64_t kToleranceNs = 60'000'000;  ///< larger deviations are corrected in the sound
  static constexpr int64_t kGapNs = 5'000'000;         ///< larger jumps of timestamps are gaps in the audio
  static constexpr double kSmoothing = 0.05;           ///< weight of a new measurement in wall_ns()

  void start(int64_t pts_ns, int64_t wall_ns, double speed) {
    pts_ns_ = pts_ns, wall_ns_ = static_cast<double>(wall_ns), speed_ = speed;
    placed_ = false;
  }
  /// Call if frames were lost or not written in time. The next frame is placed like the first one.
  void lost() { placed_ = false; }

  /// Number of frames to write as silence or to skip before the next frame; both 0: write the next frame.
  struct Correction {
    int64_t silence = 0, skip = 0;
  };
  /// Returns the correction for the next frame. `media_ns`: its presentation time. `heard_ns`: time at which
  /// the next written frame is heard. If only a part of the correction is carried out, the next call returns
  /// the rest.
  Correction place(int64_t media_ns, int64_t heard_ns) {
    if (placed_ && std::abs(media_ns - next_media_ns_) > kGapNs) placed_ = false;
    const double wall = static_cast<double>(heard_ns) - static_cast<double>(media_ns - pts_ns_) / speed_;
    const double early = wall_ns_ - wall;  // how much too early the frame would be heard, in ns
    if (placed_ && std::abs(early) < static_cast<double>(kToleranceNs)) {
      wall_ns_ -= early * kSmoothing;
      return {};
    }
    placed_ = false;
    const int64_t frames = sound_frames(std::llround(early));
    if (frames == 0) placed_ = true, next_media_ns_ = media_ns;
    return frames > 0 ? Correction{frames, 0} : Correction{0, -frames};
  }
  /// Call after a correction was carried out completely. `media_ns`: presentation time of the next frame.
  void corrected(int64_t media_ns) { placed_ = true, next_media_ns_ = media_ns; }
  /// Call after writing audio frames. `media_ns`: presentation time of their end.
  void written(int64_t media_ns) { next_media_ns_ = media_ns; }

  bool placed() const { return placed_; }
  int64_t pts_ns() const { return pts_ns_; }
  /// Returns the monotonic time at which pts_ns() is heard.
  int64_t wall_ns() const { return std::llround(wall_ns_); }

 private:
  int64_t pts_ns_ = 0, next_media_ns_ = 0;
  double wall_ns_ = 0, speed_ = 1;
  bool placed_ = false;
};

}  // namespace lensd
