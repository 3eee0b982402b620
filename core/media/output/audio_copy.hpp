// Copies audio packets of the source into recordings and streams without decoding. Internal to core/media.
// Call from the muxer's thread only.
//
//   add_jump()     maps recording time to source time: at the first frame and after every jump
//   add_stream()   adds the audio to the next output, a file or a connection
//   begin_at()     sets the recording time that is time 0 of that output
//   copy_until()   writes the packets that are due before a picture
//   detach()       drops later packets; call before the output is closed
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "core/media/input/input.hpp"

namespace lensd {

class AudioCopy {
 public:
  /// Opens the audio of `source`. Returns null if `source` is empty. Returns null and logs the reason if its
  /// audio cannot be opened. `stop` interrupts opening and all reads, and no audio follows, unless `source`
  /// is a regular file. `stop` may be null and must outlive the object.
  static std::unique_ptr<AudioCopy> open(const std::string& source, const std::atomic<bool>* stop);

  /// Adds an audio stream to `output` before its header is written. Returns false and logs the reason if the
  /// container does not support the codec.
  bool add_stream(AVFormatContext& output);
  /// Maps recording time `start_ns` to time 0 of the output. Skips earlier audio.
  void begin_at(int64_t start_ns);
  /// Call before the output is closed. Drops later packets.
  void detach() { output_ = nullptr; }

  /// Stores a jump: at recording time `recording_ns`, the source is at `position_ns`, relative to its first
  /// picture.
  void add_jump(int64_t recording_ns, int64_t position_ns);
  /// Writes the packets before recording time `time_ns`. Returns 0 or the muxer's AVERROR.
  int copy_until(int64_t time_ns);

 private:
  struct Opening;
  explicit AudioCopy(std::shared_ptr<Opening> opening);
  void take_jump();
  int copy_segment(int64_t time_ns);
  int64_t recording_time_ns() const;

  struct Jump {
    int64_t recording_ns, position_ns;
  };

  const std::shared_ptr<Opening> opening_;
  Input& input_;
  AVFormatContext* output_ = nullptr;
  AVStream* stream_ = nullptr;
  int64_t output_start_ns_ = 0;
  ff::PacketPtr packet_ = ff::make_packet();
  std::deque<Jump> jumps_;
  bool started_ = false, pending_ = false, ended_ = false;
  int64_t origin_ns_ = 0;  ///< source time of recording time 0
  int64_t begin_ns_ = 0;   ///< recording time of the last jump; earlier packets are dropped
};

}  // namespace lensd
