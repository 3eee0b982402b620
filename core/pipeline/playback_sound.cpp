#include "core/pipeline/playback_sound.hpp"

namespace lensd {

const char* sound_reason(SoundState state) noexcept {
  switch (state) {
    case SoundState::off:
      return "No sound: it is switched off";
    case SoundState::no_track:
      return "No sound: the source has no audio";
    case SoundState::refused:
      return "No sound: this source can be read only once, and the pictures need it";
    case SoundState::broken:
      return "No sound: the audio cannot be decoded";
    case SoundState::unknown:
      return "No sound yet: the source is not connected";
    case SoundState::connecting:
      return "No sound yet: connecting to the sound server";
    case SoundState::no_server:
      return "No sound: there is no sound server";
    case SoundState::odd_speed:
      return "No sound at this speed: it is played from 0.25× to 4×";
    case SoundState::too_slow:
      return "No sound: the graph does not reach the playback speed";
    case SoundState::ended:
      return "No sound: the audio has ended";
    case SoundState::playing:
      break;
  }
  return "";
}

}  // namespace lensd
