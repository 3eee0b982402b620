#include "core/media/sound/sound_loop.hpp"

#include <poll.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/media/sound/sound_output.hpp"
#include "core/media/sound/sound_placer.hpp"

namespace lensd {
namespace {

constexpr int kBusyMs = 10, kIdleMs = 500;
/// Maximum of the measured time from start() to the first heard frame, and a margin that is added to it.
constexpr int64_t kMaxLeadNs = 250'000'000, kSpareNs = 30'000'000;
/// If the end of the output's timeline is this far in the past, nothing was written in time. A flush moves
/// the end to the present, at most once per kFlushEveryNs.
constexpr int64_t kLateNs = 20'000'000, kFlushEveryNs = 100'000'000;
/// Number of frames in which the gain changes by 1. Faster changes would click.
constexpr float kRampFrames = 240;

class OutputLoop {
 public:
  explicit OutputLoop(SoundShared& shared)
      : s_(shared), output_(s_.options.output([&shared] { shared.output_wake.set(); })) {}

  void run() {
    while (!s_.stopping) {
      const bool busy = step();
      pollfd wait{s_.output_wake.fd(), POLLIN, 0};
      ::poll(&wait, 1, busy ? kBusyMs : kIdleMs);
      s_.output_wake.clear();
    }
    output_->stop();
  }

 private:
  /// Returns true if the next step is due in kBusyMs, false if it is due in kIdleMs.
  bool step() {
    const SoundOutput::Link link = output_->link();
    follow_link(link);
    const SoundCue cue = s_.cue.load();
    if (link == SoundOutput::Link::ready) apply(cue);
    const bool sounds = link == SoundOutput::Link::ready && cue.playing && audible(cue.speed) &&
                        !cue.too_slow && s_.obstacle == SoundState::playing;
    const bool fed = sounds && feed();
    s_.clock.store({cue.run, fed, placer_.pts_ns(), placer_.wall_ns(), s_.queue.end_ns(cue.seek)});
    update_state(link, cue);
    return sounds || link == SoundOutput::Link::connecting;
  }

  void follow_link(SoundOutput::Link link) {
    if (link == link_) return;
    const bool ready = link == SoundOutput::Link::ready;
    if (ready && loss_reported_) s_.notices.add(false, "The sound server is back");
    if (link == SoundOutput::Link::lost && !std::exchange(loss_reported_, true))
      s_.notices.add(true, heard_ ? "The sound server is gone: playing without sound until it is back"
                                  : "No sound: there is no sound server");
    if (ready) loss_reported_ = false, heard_ = true;
    run_ = 0, running_ = false;  // the old connection's start() has no effect on a new one
    s_.lead_ns = ready ? kFirstLeadNs : 0;
    link_ = link;
  }

  void apply(const SoundCue& cue) {
    if (cue.run == run_) return;
    run_ = cue.run;
    const bool play = cue.playing && audible(cue.speed) && !cue.too_slow;
    if (play && running_) output_->flush();
    if (play) output_->start();
    if (!play) {
      // After a seek the sound soon starts again. Keep the timeline running, so that its latency is known.
      cue.seeking ? output_->flush() : output_->stop();
    }
    running_ = play || (running_ && cue.seeking);
    placer_.start(cue.pts_ns, cue.wall_ns, cue.speed);
    seek_ = cue.seek, speed_ = cue.speed, gain_ = 0;
    started_ = play;
  }

  /// Writes as many frames as the output takes. Returns true if the placer's clock is valid.
  bool feed() {
    for (;;) {
      const auto heard = output_->next_heard_ns();
      if (!heard) return false;
      const int64_t late = now_ns() - *heard;
      if (std::exchange(started_, false)) s_.lead_ns = std::clamp(kSpareNs - late, kSpareNs, kMaxLeadNs);
      const auto front = s_.queue.front(seek_);
      if (!front) {
        placer_.lost();
        return false;
      }
      if (late > kLateNs) {
        if (!catch_up(late)) return false;
        continue;
      }
      const size_t room = output_->writable();
      if (room == 0) return placer_.placed();
      const SoundPlacer::Correction fix = placer_.place(front->media_ns, *heard);
      if (fix.skip > 0) {
        if (!skip(fix.skip)) return false;
      } else if (fix.silence > 0) {
        if (!insert_silence(static_cast<size_t>(fix.silence), room)) return true;
        placer_.corrected(front->media_ns);
      } else {
        write_next(*front, room);
      }
    }
  }

  /// Moves the timeline's end, which is `late_ns` in the past, to the present: by a flush, or by silence if a
  /// flush has not helped. Returns false if nothing can be placed yet.
  bool catch_up(int64_t late_ns) {
    placer_.lost();
    const int64_t now = now_ns();
    if (now - std::exchange(flushed_ns_, now) > kFlushEveryNs) {
      output_->flush();
      return false;
    }
    return insert_silence(static_cast<size_t>(sound_frames(late_ns)), output_->writable());
  }

  void write_next(const SoundQueue::Front& front, size_t room) {
    buffer_.clear();
    const size_t frames = s_.queue.consume(seek_, std::min(room, front.frames), &buffer_);
    s_.wake_decoder();
    apply_gain();
    output_->write(buffer_.data(), frames);
    placer_.written(front.media_ns + sound_ns(static_cast<double>(frames) * speed_));
  }

  /// Removes frames that are too late. Returns false if more must be decoded first.
  bool skip(int64_t frames) {
    gain_ = 0;
    while (frames > 0) {
      const size_t gone = s_.queue.consume(seek_, static_cast<size_t>(frames), nullptr);
      s_.wake_decoder();
      if (gone == 0) return false;
      frames -= static_cast<int64_t>(gone);
    }
    if (const auto front = s_.queue.front(seek_)) placer_.corrected(front->media_ns);
    return true;
  }

  /// Writes up to `room` frames of silence. Returns true if all `frames` were written.
  bool insert_silence(size_t frames, size_t room) {
    const size_t now = std::min(frames, room);
    buffer_.assign(now * kSoundChannels, 0.f);
    if (now > 0) output_->write(buffer_.data(), now);
    gain_ = 0;
    return now == frames;
  }

  void apply_gain() {
    const double volume = s_.muted ? 0 : s_.volume.load() / 100;
    const auto target = static_cast<float>(volume * volume * volume);
    for (size_t i = 0; i < buffer_.size(); i += kSoundChannels) {
      gain_ += std::clamp(target - gain_, -1 / kRampFrames, 1 / kRampFrames);
      for (size_t c = 0; c < kSoundChannels; ++c) buffer_[i + c] *= gain_;
    }
  }

  void update_state(SoundOutput::Link link, const SoundCue& cue) {
    const SoundState obstacle = s_.obstacle;
    const SoundState state = obstacle != SoundState::playing          ? obstacle
                             : link == SoundOutput::Link::lost        ? SoundState::no_server
                             : link == SoundOutput::Link::connecting  ? SoundState::connecting
                             : !audible(cue.speed)                    ? SoundState::odd_speed
                             : cue.too_slow                           ? SoundState::too_slow
                             : cue.playing && s_.queue.over(cue.seek) ? SoundState::ended
                                                                      : SoundState::playing;
    if (obstacle != SoundState::playing) s_.lead_ns = 0;
    s_.state = state;
  }

  SoundShared& s_;
  const std::unique_ptr<SoundOutput> output_;
  SoundOutput::Link link_ = SoundOutput::Link::connecting;
  bool loss_reported_ = false;  ///< a notice has reported that there is no server
  bool heard_ = false;          ///< there was a connection
  bool running_ = false;
  bool started_ = false;  ///< the sound was started, and its lead was not measured yet
  int64_t flushed_ns_ = INT64_MIN / 2;
  SoundPlacer placer_;
  uint64_t run_ = 0, seek_ = 0;
  double speed_ = 1;
  float gain_ = 0;
  std::vector<float> buffer_;
};

}  // namespace

SoundShared::SoundShared(SoundOptions sound_options) : options(std::move(sound_options)) {
  volume = options.volume, muted = options.muted;
  if (!options.output) options.output = make_pulse_output;
}

void SoundShared::fail(const std::string& why) {
  if (stopping) return;
  obstacle = SoundState::broken;
  notices.add(true, "No sound: " + why);
}

void run_sound_output(SoundShared& shared) noexcept {
  try {
    OutputLoop(shared).run();
  } catch (const std::exception& e) {  // out of memory, for example
    shared.fail(e.what());
    shared.state = SoundState::broken;
    shared.clock.store({}), shared.lead_ns = 0;
  }
}

void PlayingSound::set_volume(double percent) noexcept {
  shared_->volume = std::clamp(percent, 0.0, kMaxVolume);
}

}  // namespace lensd
