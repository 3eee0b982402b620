// The pre-roll of a recording: the newest encoded pictures in memory, starting with a key frame. Internal to
// core/media. Not thread-safe.
#pragma once

#include <deque>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class PacketRing {
 public:
  /// Keeps at least `ticks` of video (in the encoder's time base), but at most `bytes` bytes.
  PacketRing(int64_t ticks, int64_t bytes) : max_ticks_(ticks), max_bytes_(bytes) {}

  void push(const AVPacket& packet);
  void clear();
  const std::deque<ff::PacketPtr>& packets() const noexcept { return packets_; }

 private:
  size_t second_key() const;

  int64_t max_ticks_, max_bytes_, bytes_ = 0;
  std::deque<ff::PacketPtr> packets_;
};

}  // namespace lensd
