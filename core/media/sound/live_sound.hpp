// The sound of a live stream. Internal to core/media.
//
//   LiveAudio ── packets ──▶ decode thread ── SoundQueue ──▶ output thread (sound_loop.hpp) ──▶ SoundOutput
//                            decides when sound is heard, and publishes it for the pictures (LiveAudio)
//
// Sound is played as soon as the network's jitter allows, see PlayoutDelay. If the delay must change, or if
// the sender's clock differs from the device's, the sound is stretched or shortened by at most 0.5 %. Larger
// differences are corrected by silence or skipped sound.
#pragma once

#include <memory>

#include "core/media/sound_player.hpp"

namespace lensd {

std::unique_ptr<PlaybackSound> make_live_sound(std::shared_ptr<LiveAudio> audio, const std::string& where,
                                               SoundOptions options);

}  // namespace lensd
