// The state that the threads of a playing sound share, and the loop of its output thread. Internal to
// core/media.
//
//   SoundQueue ── SoundPlacer, volume ──▶ SoundOutput
//        SoundCue: what to play and when ──▶ run_sound_output() ──▶ SoundClock: when it is heard
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "core/base/seq_lock.hpp"
#include "core/base/wake_event.hpp"
#include "core/media/sound/sound_queue.hpp"
#include "core/media/sound_player.hpp"

namespace lensd {

/// How long an owner waits for each thread, which may hang in I/O.
inline constexpr auto kSoundJoinTimeout = std::chrono::milliseconds(300);
/// Time from start() of an output to its first heard frame, until it is measured.
inline constexpr int64_t kFirstLeadNs = 80'000'000;

inline bool audible(double speed) noexcept {
  return speed >= kMinSoundSpeed && speed <= kMaxSoundSpeed;
}

/// What the decode thread, the output thread and the owner share. Owned by all of them, because a thread may
/// hang in I/O.
struct SoundShared {
  SoundOptions options;
  WakeEvent output_wake;
  std::atomic<bool> stopping{false};
  SeqLock<SoundCue> cue;
  SeqLock<SoundClock> clock;
  SoundQueue queue;
  /// Why there is nothing to play; `playing`: there is something to play.
  std::atomic<SoundState> obstacle{SoundState::playing};
  std::atomic<SoundState> state{SoundState::connecting};
  std::atomic<int64_t> lead_ns{kFirstLeadNs};
  std::atomic<double> volume{100};
  std::atomic<bool> muted{false};
  std::atomic<uint32_t> decode_wake{0};
  NoticeList notices;

  explicit SoundShared(SoundOptions sound_options);
  /// Wakes the decode thread, which waits for a change of decode_wake.
  void wake_decoder() noexcept {
    decode_wake.fetch_add(1, std::memory_order_release);
    decode_wake.notify_all();
  }
  /// Sets the obstacle and adds a notice, unless stopping. Thread-safe.
  void fail(const std::string& why);
};

/// Plays the queue according to the cue until `stopping`. Sets clock, state and lead. Throws nothing.
void run_sound_output(SoundShared& shared) noexcept;

/// Volume, mute, state and notices of a sound that plays.
class PlayingSound : public PlaybackSound {
 public:
  explicit PlayingSound(std::shared_ptr<SoundShared> shared) : shared_(std::move(shared)) {}

  SoundClock clock() const noexcept override { return shared_->clock.load(); }
  int64_t lead_ns() const noexcept override { return shared_->lead_ns; }
  void set_volume(double percent) noexcept override;
  void set_muted(bool muted) noexcept override { shared_->muted = muted; }
  double volume() const noexcept override { return shared_->volume; }
  bool muted() const noexcept override { return shared_->muted; }
  SoundState state() const noexcept override { return shared_->state; }
  std::vector<Notice> take_notices() override { return shared_->notices.take(); }

 protected:
  const std::shared_ptr<SoundShared> shared_;
};

}  // namespace lensd
