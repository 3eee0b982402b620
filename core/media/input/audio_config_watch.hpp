// Notices that the audio of a connection gets another configuration: other AAC settings in a transport
// stream, or another publisher of an FLV stream, which a relay sends on in the same connection. The audio's
// outputs were opened with the first one. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class AudioConfigWatch {
 public:
  /// Call for each new connection, before its packets. Throws std::bad_alloc.
  void connected(const AVCodecParameters& codec);
  /// Takes a packet of the connection's audio. Returns false if it has another configuration.
  bool put(const AVPacket& packet) noexcept;
  bool changed() const noexcept { return changed_; }

 private:
  bool check_adts(const AVPacket& packet) noexcept;

  bool adts_ = false;
  std::vector<uint8_t> config_;
  uint32_t header_ = 0;  ///< of the audio's ADTS frames; 0: not known yet
  int others_ = 0;       ///< number of consecutive packets with another header
  bool changed_ = false;
};

}  // namespace lensd
