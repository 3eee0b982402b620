// Audio packets of the source, copied into recordings without decoding. Internal to core/media. Belongs to
// the recorder's thread.
//
//   follow() tells where recording time meets source time: at the first frame and after every jump.
//   add_stream() joins the next file; copy_until() hands over packets that are due before a picture.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "core/media/input/input.hpp"

namespace lensd {

class AudioCopy {
 public:
  /// Null, with a line in the log, when the source has no audio.
  static std::unique_ptr<AudioCopy> open(const std::string& source);

  /// Adds an audio stream to `output` before its header is written, for a file that begins at `start_ns` of
  /// the recording. False, with a line in the log, when the container does not take the codec.
  bool add_stream(AVFormatContext& output, int64_t start_ns);
  /// Moves the file's beginning: what is before `start_ns` of the recording is left out.
  void begin_at(int64_t start_ns) { skip_to(start_ns), file_start_ns_ = start_ns; }
  void leave_output() { output_ = nullptr; }

  /// From `recording_ns` on, the recording shows the source from `position_ns` on (counted from its first
  /// picture).
  void follow(int64_t recording_ns, int64_t position_ns);
  /// Hands over the packets before `time_ns` of the recording. Returns 0 or the muxer's AVERROR.
  int copy_until(int64_t time_ns);

 private:
  explicit AudioCopy(const std::string& source);
  void skip_to(int64_t time_ns);
  void take_jump();
  int copy_segment(int64_t time_ns);
  int64_t recording_time_ns() const;

  struct Jump {
    int64_t recording_ns, position_ns;
  };

  StopFlags stop_;
  Input input_;
  AVFormatContext* output_ = nullptr;
  AVStream* stream_ = nullptr;
  int64_t file_start_ns_ = 0;
  ff::PacketPtr packet_ = ff::make_packet();
  std::deque<Jump> jumps_;
  bool started_ = false, pending_ = false, ended_ = false;
  int64_t origin_ns_ = 0;  ///< source time of recording time 0
  int64_t begin_ns_ = 0;   ///< recording time from which on packets are wanted
};

}  // namespace lensd
