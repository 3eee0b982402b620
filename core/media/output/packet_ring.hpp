// The newest encoded pictures in memory, beginning with a key frame: what a recording starts with when it is
// triggered. Bounded in time and in bytes. Internal to core/media; belongs to one thread.
#pragma once

#include <deque>

#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

class PacketRing {
 public:
  /// `ticks` of video are kept, at least and as far as `bytes` allow, from a key frame on.
  PacketRing(int64_t ticks, int64_t bytes) : max_ticks_(ticks), max_bytes_(bytes) {}

  void push(const AVPacket& packet);
  void clear();
  const std::deque<ff::PacketPtr>& packets() const noexcept { return packets_; }
  int64_t bytes() const noexcept { return bytes_; }

 private:
  size_t second_key() const;
  void drop_front(size_t count);

  int64_t max_ticks_, max_bytes_, bytes_ = 0;
  std::deque<ff::PacketPtr> packets_;
};

}  // namespace lensd
