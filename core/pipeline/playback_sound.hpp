// The sound of a pipeline: the cue that the pipeline sets, and the clock that the pictures follow.
//
//   process thread ── cue() ──▶ PlaybackSound ── clock() ──▶ process thread
//
// Pictures are due when their sound is heard.
//
// core/media/sound_player.hpp implements PlaybackSound. The structs are plain values; copy freely between
// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/notices.hpp"

namespace lensd {

/// Whether sound is played, and if not, why.
enum class SoundState : uint8_t {
  off,         ///< not requested: --no-audio, or a run without sound (batch, daemon)
  no_track,    ///< the source has no audio
  refused,     ///< the source can be read only once: a camera, a live stream, a pipe
  broken,      ///< the audio cannot be opened or decoded
  unknown,     ///< the live source was not connected yet
  connecting,  ///< waits for the sound server
  no_server,   ///< there is no sound server, or the connection was lost
  odd_speed,   ///< the playback speed is outside kMinSoundSpeed to kMaxSoundSpeed
  too_slow,    ///< the graph does not reach the playback speed
  ended,       ///< the audio has ended
  playing,     ///< also while paused
};

/// Returns a sentence for the user, such as "No sound: the source has no audio"; empty while playing.
const char* sound_reason(SoundState state) noexcept;

/// Range of playback speeds with sound.
inline constexpr double kMinSoundSpeed = 0.25, kMaxSoundSpeed = 4;
/// Maximum volume in percent; the minimum is 0. The gain is (volume / 100)³.
inline constexpr double kMaxVolume = 130;

/// What the sound should do. Only the newest cue counts.
struct SoundCue {
  uint64_t seek = 0;    ///< changes if the audio must be decoded from `from_ns`
  int64_t from_ns = 0;  ///< presentation time to decode from
  uint64_t run = 0;     ///< changes with every start and stop of the sound
  bool playing = false;
  bool seeking = false;             ///< not playing, but starts again soon, for example after a seek
  bool too_slow = false;            ///< silent, because the graph does not reach the playback speed
  int64_t pts_ns = 0, wall_ns = 0;  ///< presentation time that should be heard at monotonic time `wall_ns`
  double speed = 1;
};

/// The mapping of presentation times to the monotonic time at which they are heard.
struct SoundClock {
  uint64_t run = 0;  ///< SoundCue::run of the cue to which these times belong
  bool valid = false;
  int64_t pts_ns = 0, wall_ns = 0;  ///< presentation time `pts_ns` is heard at `wall_ns`
  int64_t end_ns = INT64_MAX;       ///< presentation time at which the sound ends; INT64_MAX: not known yet
};

class PlaybackSound {
 public:
  virtual ~PlaybackSound() = default;

  /// Replaces the cue. Call from the process thread only. Does not block, lock or allocate.
  virtual void cue(const SoundCue& cue) noexcept = 0;
  /// Thread-safe. Does not block.
  virtual SoundClock clock() const noexcept = 0;
  /// Returns the time in nanoseconds from the start of the sound until its first sample is heard; 0 if there
  /// is no sound. Thread-safe. Does not block.
  virtual int64_t lead_ns() const noexcept = 0;

  /// Sets the volume in percent, 0 to kMaxVolume. The volume and mute functions are thread-safe and do not
  /// block.
  virtual void set_volume(double percent) noexcept = 0;
  virtual void set_muted(bool muted) noexcept = 0;
  virtual double volume() const noexcept = 0;
  virtual bool muted() const noexcept = 0;
  /// Thread-safe. Does not block.
  virtual SoundState state() const noexcept = 0;
  /// Returns the notices since the last call. Thread-safe.
  virtual std::vector<Notice> take_notices() = 0;
};

}  // namespace lensd
