// Synchronises sound and pictures: cues the sound after seeks and pauses, and uses the sound's clock to
// compute when pictures are due.
//
//   process thread: seek, pause, first frame after them ──▶ SoundSync ── SoundCue ──▶ PlaybackSound
//   process thread: until_due() ◀── the sound's clock, or the monotonic clock while there is no sound
//
// Owned by the process thread. No function blocks, locks or allocates.
#pragma once

#include <memory>
#include <utility>

#include "app/pipeline/playback_clock.hpp"
#include "core/pipeline/playback_sound.hpp"

namespace lensd {

class SoundSync {
 public:
  /// `sound` may be null.
  explicit SoundSync(std::shared_ptr<PlaybackSound> sound) : sound_(std::move(sound)) {}

  /// Stops the sound at once. It will continue at about `position_ns`. `seeking` as in SoundCue.
  void stop(int64_t position_ns, bool seeking) {
    // Keep the decoded sound if the sound has already stopped at this position, as at the end of a pause.
    const bool kept = cue_.seek > 0 && !cue_.playing && !cue_.too_slow && cue_.from_ns == position_ns;
    if (!kept) ++cue_.seek, cue_.from_ns = position_ns;
    cue_.seeking = seeking, cue_.playing = cue_.too_slow = false;
    late_ns_ = kNever;
    publish();
  }
  /// Makes the pictures due with the sound that is heard, if any.
  void follow_sound(PlaybackClock& clock) const {
    if (!sound_) return;
    if (const SoundClock heard = sound_->clock(); heard.valid && heard.run == cue_.run)
      clock.follow(heard.pts_ns, heard.wall_ns);
  }
  /// Returns the presentation time at which the sound ends: INT64_MAX while it is heard and its end is not
  /// known yet, 0 if none is heard.
  int64_t end_ns() const {
    if (!sound_ || !cue_.playing) return 0;
    const SoundClock heard = sound_->clock();
    if (heard.run != cue_.run) return 0;
    return heard.valid || heard.end_ns < INT64_MAX ? heard.end_ns : 0;
  }
  void set_speed(double speed, int64_t position_ns) {
    cue_.speed = speed;
    ++cue_.seek;
    stop(position_ns, true);
  }

  /// Like PlaybackClock::until_due(), but uses the sound's clock while sound is heard. Starts the sound with
  /// the first frame, and again after a restart of the clock.
  PlaybackClock::Wait until_due(PlaybackClock& clock, int64_t pts_ns, int64_t duration_ns, int64_t now_ns) {
    if (!sound_) return clock.until_due(pts_ns, duration_ns, now_ns);
    follow_sound(clock);
    // The first frame is shown at once and the next ones follow the sound, which is heard later.
    const int64_t lead_ns = sound_->lead_ns();
    const PlaybackClock::Wait wait = clock.until_due(pts_ns, duration_ns, now_ns, lead_ns);
    if (wait.restarted)
      restarted(pts_ns, now_ns + lead_ns, now_ns, wait.late);
    else if (cue_.too_slow && now_ns - late_ns_ > kPatienceNs)
      start(pts_ns, now_ns + wait.ns);
    return wait;
  }

 private:
  static constexpr int64_t kNever = INT64_MIN / 2;
  /// The clock restarts when the graph is too slow. After two such restarts within this time, there is no
  /// sound until the graph has kept up for this time.
  static constexpr int64_t kPatienceNs = 2'000'000'000;
  /// Decoded sound is kept if the first frame's timestamp is at most this far past the position of stop().
  static constexpr int64_t kNearNs = 250'000'000;

  void restarted(int64_t pts_ns, int64_t wall_ns, int64_t now_ns, bool late) {
    const bool again = late && now_ns - late_ns_ < kPatienceNs;
    if (late) late_ns_ = now_ns;
    if (!again) return start(pts_ns, wall_ns);
    stop_slow(pts_ns);
  }
  void stop_slow(int64_t pts_ns) {
    if (cue_.too_slow) return;
    cue_.from_ns = pts_ns, cue_.playing = cue_.seeking = false, cue_.too_slow = true;
    publish();
  }
  void start(int64_t pts_ns, int64_t wall_ns) {
    const int64_t after_ns = pts_ns - cue_.from_ns;
    if (cue_.seek == 0 || cue_.playing || cue_.too_slow || after_ns < 0 || after_ns > kNearNs)
      ++cue_.seek, cue_.from_ns = pts_ns;
    cue_.playing = true, cue_.seeking = cue_.too_slow = false;
    cue_.pts_ns = pts_ns, cue_.wall_ns = wall_ns;
    publish();
  }
  void publish() {
    ++cue_.run;
    if (sound_) sound_->cue(cue_);
  }

  const std::shared_ptr<PlaybackSound> sound_;
  SoundCue cue_;
  int64_t late_ns_ = kNever;  ///< time of the last restart that a slow graph caused
};

}  // namespace lensd
