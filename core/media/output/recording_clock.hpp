// Recording time of frames: from 0 at the first one, strictly rising, going on when the source jumps back.
// Internal to core/media.
#pragma once

#include <algorithm>

#include "core/image/frame.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

class RecordingClock {
 public:
  struct Place {
    int64_t ticks = 0;
    bool jump = false;  ///< recording and source time go on from here with a new difference
  };
  /// `time_base` and `frame_ticks` of the encoder; they stay the same.
  Place place(const FrameInfo& info, AVRational time_base, int64_t frame_ticks) {
    constexpr AVRational kNanoseconds = {1, 1'000'000'000};
    Place out;
    if (last_ < 0) {
      offset_ns_ = -info.pts_ns, out.jump = true;
    } else if (info.serial != serial_ || info.pts_ns + 1'000'000'000 < last_pts_ns_) {
      offset_ns_ = av_rescale_q(last_ + frame_ticks, time_base, kNanoseconds) - info.pts_ns, out.jump = true;
    }
    serial_ = info.serial;
    last_pts_ns_ = info.pts_ns;
    last_ = std::max(last_ + 1, av_rescale_q(info.pts_ns + offset_ns_, kNanoseconds, time_base));
    out.ticks = last_;
    return out;
  }

 private:
  int64_t last_ = -1, last_pts_ns_ = 0, offset_ns_ = 0;
  uint32_t serial_ = 0;
};

}  // namespace lensd
