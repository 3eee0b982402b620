// Audio packets of the source, copied into the recording without decoding. Internal to core/media.
#pragma once

#include <memory>
#include <string>

#include "core/media/input.hpp"

namespace lensd {

class AudioCopy {
 public:
  /// Adds an audio stream to `output` before its header is written. Returns null, with a line in the log,
  /// when the source has no audio or the container does not take its codec.
  static std::unique_ptr<AudioCopy> open(const std::string& source, AVFormatContext& output);

  /// Recording time 0 is `position_ns` of the source, counted from its first picture.
  void start_at(int64_t position_ns);
  /// Hands over the packets up to `time_ns` of the recording. Returns 0 or the muxer's AVERROR.
  int copy_until(int64_t time_ns);

 private:
  AudioCopy(const std::string& source);
  int64_t recording_time_ns() const;

  StopFlags stop_;
  Input input_;
  AVFormatContext* output_ = nullptr;
  AVStream* stream_ = nullptr;
  ff::PacketPtr packet_ = ff::make_packet();
  bool pending_ = false, ended_ = false;
  int64_t origin_ns_ = 0;  ///< source time of recording time 0
};

}  // namespace lensd
