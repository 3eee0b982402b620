// The audio that recordings and streams copy from a source. They open a file a second time to read its audio.
// A live source is opened only once; LiveAudio keeps its audio packets.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

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

  bool none() const noexcept { return address.empty() && !live; }

  std::string address;              ///< SourceInfo::address; empty: not a file
  std::shared_ptr<LiveAudio> live;  ///< SourceInfo::live_audio; null: not a live source, or no audio
  /// A copy of a live source begins with packets of at most this age.
  int64_t history_ns = 4'000'000'000;
  uint32_t connection = 0;  ///< FrameInfo::connection of the first frame; 0: the newest one
  TlsCheck tls = TlsCheck::automatic;
  int track = 0;           ///< as in AudioChoice
  int64_t start_ns = 0;    ///< SourceInfo::start_ns
  bool repeatable = true;  ///< false for pipes: they cannot be read a second time, so no audio is copied

  /// SourceInfo::address_options.
  std::vector<std::pair<std::string, std::string>> options;
};

/// Returns the audio to copy from an opened source. Returns no audio if `choice` is off, or if a file has
/// none. Always returns the LiveAudio of a live source, because its audio may begin later.
inline AudioSource audio_of(const SourceInfo& source, const AudioChoice& choice) {
  AudioSource audio;
  if (choice.on && source.live) audio.live = source.live_audio;
  if (!choice.on || !source.has_audio || source.live) return audio;
  audio.address = source.address;
  audio.tls = source.tls, audio.options = source.address_options;
  audio.track = choice.track, audio.start_ns = source.start_ns, audio.repeatable = source.reopenable;
  return audio;
}

}  // namespace lensd
