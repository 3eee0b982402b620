// Detects a change of the audio configuration within a connection: other AAC settings in a transport stream,
// or a new publisher of an FLV stream, which a relay forwards on the same connection. Audio outputs are
// opened with the first configuration and cannot take another one. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class AudioConfigWatch {
 public:
  /// Call for each new connection, before its packets. Throws std::bad_alloc.
  void connected(const AVCodecParameters& codec);
  /// Takes a packet of the connection's audio. Returns false if its configuration differs from the first one.
  bool put(const AVPacket& packet) noexcept;
  /// Returns true if the configuration of an FLV stream has changed: its publisher has restarted.
  bool changed() const noexcept { return changed_; }
  /// Returns true if the settings of ADTS frames have changed, as in broadcasts that switch between stereo
  /// and 5.1.
  bool adts_changed() const noexcept { return others_ >= kCertainAfter; }
  /// Sets the rate and channels of `codec`, which describes the frames before adts_changed().
  void set_new_format(AVCodecParameters& codec) const;

 private:
  /// Number of packets with new settings that confirm a change: a damaged packet may have another header.
  static constexpr int kCertainAfter = 4;

  bool check_adts(const AVPacket& packet) noexcept;

  bool adts_ = false;
  std::vector<uint8_t> config_;
  uint32_t header_ = 0;  ///< header of the first ADTS frame; 0: not known yet
  uint32_t other_ = 0;   ///< the last header that differs from header_
  int others_ = 0;       ///< number of consecutive packets with the header other_
  bool changed_ = false;
};

}  // namespace lensd
