// Plays the audio of a file in step with its pictures. For network streams see sound/live_sound.hpp.
//
//   process thread ── cue() ──▶ PlaybackSound
//   decode thread   SoundDecoder ──▶ SoundQueue (300 ms)
//   output thread   SoundQueue ── SoundPlacer, volume ──▶ SoundOutput (libpulse, with its own thread)
//   process thread ◀── clock() ── output thread
//
// A cue only changes values that the threads read; the process thread never waits for the sound. A thread may
// hang in I/O. The destructor waits up to 300 ms for each thread (core/base/owned_thread.hpp). While there is
// no sound, the pictures follow the monotonic clock. All functions are thread-safe, except cue().
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/media/source.hpp"
#include "core/pipeline/playback_sound.hpp"

namespace lensd {

class LiveAudio;
class SoundOutput;

struct SoundOptions {
  bool on = true;
  double volume = 100;  ///< percent, 0 to kMaxVolume
  bool muted = false;
  int track = 0;     ///< number of the audio track, from 1; 0: the best one
  LiveOptions live;  ///< used for files on a server; its `audio` is for network streams
  /// Creates the output. Called on the output thread; `wake` may be called from any thread. Empty: the sound
  /// server of the session.
  std::function<std::unique_ptr<SoundOutput>(std::function<void()> wake)> output;
};

/// Returns the sound of an opened source. It is silent, with a reason in state(), if `options.on` is false,
/// or if the source has no audio, or is a pipe, which can be read only once. Network streams play the audio
/// of `options.live.audio`, which must be the one they were opened with. Does not block: files are opened on
/// the sound's own thread. Throws Error(runtime_failure) if there is no file descriptor left.
std::unique_ptr<PlaybackSound> open_sound(const std::string& url, const SourceInfo& source,
                                          SoundOptions options);

}  // namespace lensd
