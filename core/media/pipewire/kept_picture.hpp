// The newest picture of a node that sends pictures only when they change. It is repeated while the node is
// silent.
#pragma once

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class KeptPicture {
 public:
  /// `repeat_ns`: time without a picture after which the last one is repeated.
  explicit KeptPicture(int64_t repeat_ns) : repeat_ns_(repeat_ns) {}

  /// Call for each picture that was read. `keep`: the picture may be repeated. Returns 0 or an AVERROR.
  int update(const AVFrame& frame, bool keep) noexcept {
    read_ns_ = now_ns();
    av_frame_unref(frame_.get());
    return keep ? av_frame_ref(frame_.get(), &frame) : 0;
  }
  /// Returns true if it is time to repeat the picture.
  bool due() const noexcept { return frame_->buf[0] && now_ns() - read_ns_ >= repeat_ns_; }
  /// Sets `frame` to the picture, with the current time. Returns 0 or an AVERROR.
  int repeat(AVFrame& frame) noexcept {
    if (const int error = av_frame_ref(&frame, frame_.get()); error < 0) return error;
    frame.pts = frame.best_effort_timestamp = repeated_ns_ = read_ns_ = now_ns();
    return 0;
  }
  /// Returns the timestamp for a picture that was sent at `time_ns`: at least 1 ns after the newest
  /// repetition, because the picture may have been sent before that repetition.
  int64_t after_repetition(int64_t time_ns) const noexcept { return std::max(time_ns, repeated_ns_ + 1); }
  /// Returns true if a picture was read.
  bool any() const noexcept { return read_ns_ > 0; }

 private:
  const int64_t repeat_ns_;
  const ff::FramePtr frame_ = ff::make_frame();  ///< empty if the newest picture is not to be repeated
  int64_t read_ns_ = 0;                          ///< time of the newest picture or repetition
  int64_t repeated_ns_ = 0;                      ///< timestamp of the newest repetition
};

}  // namespace lensd
