#include "core/media/sound_player.hpp"

#include <algorithm>
#include <optional>

#include "core/base/owned_thread.hpp"
#include "core/media/sound/live_sound.hpp"
#include "core/media/sound/sound_decoder.hpp"
#include "core/media/sound/sound_loop.hpp"

namespace lensd {
namespace {

constexpr size_t kQueuedFrames = kSoundRate * 3 / 10;

// ---- decode thread --------------------------------------------------------------------------------------

class DecodeLoop {
 public:
  DecodeLoop(SoundShared& shared, SoundSource source, const StopFlags& stop)
      : s_(shared), source_(std::move(source)), stop_(stop) {}

  void run() {
    try {
      decoder_.emplace(source_, stop_);
      while (!s_.stopping) step();
    } catch (const std::exception& e) {
      s_.fail(e.what());
    }
    s_.output_wake.set();
  }

 private:
  void step() {
    const uint32_t seen = s_.decode_wake.load(std::memory_order_acquire);
    const SoundCue cue = s_.cue.load();
    if (cue.seek != seek_) {
      seek_ = cue.seek, ended_ = !audible(cue.speed);
      s_.queue.restart(seek_, cue.speed);
      if (!ended_) decoder_->seek(cue.from_ns, cue.speed);
      return;
    }
    if (ended_ || s_.queue.frames() >= kQueuedFrames)
      return s_.decode_wake.wait(seen, std::memory_order_acquire);
    SoundBlock block;
    if (decoder_->read(block)) {
      frames_ += block.frames();
      s_.queue.push(std::move(block));
    } else if (!s_.stopping) {
      ended_ = true;
      s_.queue.end();
      if (frames_ == 0 && decoder_->errors() > 0)
        throw Error(ExitCode::bad_source, "audio", "nothing can be decoded");
    }
    s_.output_wake.set();
  }

  SoundShared& s_;
  const SoundSource source_;
  const StopFlags& stop_;
  std::optional<SoundDecoder> decoder_;
  uint64_t seek_ = 0;
  uint64_t frames_ = 0;
  bool ended_ = true;
};

// ---- any thread -----------------------------------------------------------------------------------------

class FileSound final : public PlayingSound {
 public:
  FileSound(std::shared_ptr<SoundShared> shared, SoundSource source) : PlayingSound(std::move(shared)) {
    decode_thread_ = OwnedThread(
        [s = shared_, stop = stop_, from = std::move(source)] { DecodeLoop(*s, from, *stop).run(); });
    output_thread_ = OwnedThread([s = shared_] { run_sound_output(*s); });
  }
  ~FileSound() override {
    shared_->stopping = true;
    stop_->interrupted = true;
    shared_->wake_decoder();
    shared_->output_wake.set();
    output_thread_.join_within(kSoundJoinTimeout);
    decode_thread_.join_within(kSoundJoinTimeout);
  }

  void cue(const SoundCue& cue) noexcept override {
    shared_->cue.store(cue);
    shared_->wake_decoder();
    shared_->output_wake.set();
  }

 private:
  const std::shared_ptr<StopFlags> stop_ = std::make_shared<StopFlags>();
  OwnedThread decode_thread_, output_thread_;
};

/// A source without sound. Stores volume and mute state, so that they can be set for the next source.
class NoSound final : public PlaybackSound {
 public:
  NoSound(SoundState state, double volume, bool muted) : state_(state), volume_(volume), muted_(muted) {}
  void cue(const SoundCue&) noexcept override {}
  SoundClock clock() const noexcept override { return {}; }
  int64_t lead_ns() const noexcept override { return 0; }
  void set_volume(double percent) noexcept override { volume_ = std::clamp(percent, 0.0, kMaxVolume); }
  void set_muted(bool muted) noexcept override { muted_ = muted; }
  double volume() const noexcept override { return volume_; }
  bool muted() const noexcept override { return muted_; }
  SoundState state() const noexcept override { return state_; }
  std::vector<Notice> take_notices() override { return {}; }

 private:
  const SoundState state_;
  std::atomic<double> volume_;
  std::atomic<bool> muted_;
};

}  // namespace

std::unique_ptr<PlaybackSound> open_sound(const std::string& url, const SourceInfo& source,
                                          SoundOptions options) {
  options.volume = std::clamp(options.volume, 0.0, kMaxVolume);
  if (options.on && source.live && options.live.audio) {
    const auto audio = options.live.audio;
    return make_live_sound(audio, display_url(url), std::move(options));
  }
  const SoundState obstacle = !options.on          ? SoundState::off
                              : !source.has_audio  ? SoundState::no_track
                              : !source.reopenable ? SoundState::refused
                                                   : SoundState::playing;
  if (obstacle != SoundState::playing)
    return std::make_unique<NoSound>(obstacle, options.volume, options.muted);
  SoundSource from{url, source.start_ns, options.track, options.live};
  from.live.audio = nullptr;  // a file has its own reader
  return std::make_unique<FileSound>(std::make_shared<SoundShared>(std::move(options)), from);
}

}  // namespace lensd
