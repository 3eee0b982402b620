// Converts AAC of transport streams from LATM (ISO/IEC 14496-3, 1.7) to ADTS, which all muxers accept. Few
// containers and players support LATM. Internal to core/media. Not thread-safe.
//
//   LATM packet, in some packets with the configuration ── convert() ──▶ one AAC frame with an ADTS header
#pragma once

#include <cstdint>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

class LatmBits;

class LatmToAdts {
 public:
  explicit LatmToAdts(const AVCodecParameters& latm);
  /// Returns true if the stream is AAC in LATM that can be converted, as far as its configuration is known.
  static bool converts(const AVCodecParameters& codec);
  /// Returns the parameters of the converted stream.
  static ff::ParametersPtr codec(const AVCodecParameters& latm);

  /// Replaces the packet's data and keeps its times. Returns false if the packet is damaged, if no
  /// configuration has arrived yet, or if the configuration has changed, because a track has only one. Also
  /// returns false if ADTS cannot describe the stream: several programs, layers or frames in a packet, frames
  /// of 960 samples, unusual rates or numbers of channels. Throws MemoryError if out of memory.
  bool convert(AVPacket& packet);
  /// Returns the duration of one frame in seconds; 0 if no configuration has arrived yet.
  AVRational duration() const noexcept { return {configured_ ? kSamples : 0, rate_}; }

 private:
  static constexpr int kSamples = 1024;

  bool read_mux_config(LatmBits& in);
  bool read_audio_config(LatmBits& in);
  bool is_first_config();

  bool configured_ = false;
  uint32_t first_ = 0;         ///< the first configuration; 0: none yet
  bool long_lengths_ = false;  ///< audioMuxVersion
  uint8_t profile_ = 0, rate_index_ = 0, channels_ = 0;
  int rate_ = 1;
};

}  // namespace lensd
