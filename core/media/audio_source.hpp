// The audio that recordings and streams copy from a source. They open the source a second time for it.
#pragma once

#include <string>
#include <utility>

#include "core/media/source.hpp"

namespace lensd {

struct AudioChoice {
  bool on = true;
  int track = 0;  ///< number of the audio track, from 1; 0: the best one
};

struct AudioSource {
  AudioSource() = default;
  AudioSource(std::string from) : address(std::move(from)) {}
  AudioSource(const char* from) : address(from) {}

  std::string address;  ///< SourceInfo::address; empty: no audio
  TlsCheck tls = TlsCheck::automatic;
  int track = 0;           ///< as in AudioChoice
  int64_t start_ns = 0;    ///< SourceInfo::start_ns
  bool repeatable = true;  ///< false for pipes: they cannot be read a second time, so no audio is copied
};

/// Returns the audio to copy from an opened source. Returns no audio if `choice` is off, or if the source is
/// live or has none.
inline AudioSource audio_of(const SourceInfo& source, const AudioChoice& choice) {
  if (!choice.on || !source.has_audio || source.live) return {};
  AudioSource audio(source.address);
  audio.tls = source.tls, audio.track = choice.track, audio.start_ns = source.start_ns,
  audio.repeatable = source.seekable;
  return audio;
}

}  // namespace lensd
