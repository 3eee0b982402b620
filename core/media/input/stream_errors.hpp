// Counts the errors of a stream and sums them up in one sentence.
#pragma once

#include <cstdint>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class StreamErrors {
 public:
  void packet_read(const AVPacket& packet);
  /// After each packet sent to the decoder and each frame received from it. `failed`: it returned an error;
  /// `logged_errors`: error messages that it has logged so far. Several of them in one step count once.
  void step_done(bool failed, int logged_errors);
  /// After a seek: packets are not counted from the stream's start any more.
  void seek_done() { from_start_ = false; }

  /// At the end of the stream. `error`: the demuxer's last result. `end_ns`: end of the last frame.
  /// `announced_ns`: the stream's announced duration, 0 if unknown. Both are relative to the stream's start.
  void ended(const AVFormatContext& input, const AVStream& stream, int error, int64_t end_ns,
             int64_t announced_ns, int64_t frame_ns);

  std::string sentence() const;

 private:
  int64_t packets_ = 0, decode_errors_ = 0;
  int logged_errors_ = 0;
  bool from_start_ = true, corrupt_packet_ = false;
  std::string early_end_;
};

}  // namespace lensd
