// Counts what was wrong with a stream and says it in one sentence.
#pragma once

#include <cstdint>
#include <string>

#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

class StreamErrors {
 public:
  void packet_read(const AVPacket& packet);
  /// The decoder took a packet or gave a frame: `failed` says that it reported an error, `complaints` how
  /// many error messages it has logged so far. Several of them about one picture count once.
  void step_done(bool failed, int complaints);
  /// Packets are no longer counted from the stream's start.
  void sought() { from_start_ = false; }

  /// The demuxer has no more packets: `error` is what it returned, `end_ns` the end of the last frame and
  /// `announced_ns` the stream's announced duration (0: not known), both from the stream's start.
  void ended(const AVFormatContext& input, const AVStream& stream, int error, int64_t end_ns,
             int64_t announced_ns, int64_t frame_ns);

  std::string sentence() const;

 private:
  int64_t packets_ = 0, decode_errors_ = 0;
  int complaints_ = 0;
  bool from_start_ = true, cut_packet_ = false;
  std::string early_end_;
};

}  // namespace lensd
