// core/media/sound_player.hpp with a simulated output: which samples are heard, and when.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/media/sound_player.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/media_fixture.hpp"
#include "tests/unit/core/media/sound/fake_speaker.hpp"
#include "tests/unit/core/media/sound/sound_clip.hpp"

namespace lensd {
namespace {

constexpr int64_t kMs = 1'000'000, kSecond = 1'000'000'000;
using test::FakeOutput, test::FakeSpeaker;

class SoundPlayerTest : public test::MediaTest {
 protected:
  /// Opens a clip with 1 s of silence and 9 s of a constant level.
  void open(SoundOptions options = {}) {
    put("clip.wav", test::wav(48000, 2, 480000, [](int64_t i) { return i < 48000 ? 0 : 0.5; }));
    open_file("clip.wav", std::move(options));
  }
  void open_file(const std::string& name, SoundOptions options = {}) {
    SourceInfo source;
    source.has_audio = source.seekable = source.reopenable = true;
    options.output = [this](const std::function<void()>&) { return std::make_unique<FakeOutput>(speaker_); };
    sound_ = open_sound(file(name), source, std::move(options));
  }
  void play(int64_t pts_ns, int64_t wall_ns, bool seek = true) {
    if (seek) ++cue_.seek, cue_.from_ns = pts_ns;
    ++cue_.run, cue_.playing = true, cue_.seeking = false;
    cue_.pts_ns = pts_ns, cue_.wall_ns = wall_ns;
    sound_->cue(cue_);
  }
  void pause() {
    ++cue_.run, ++cue_.seek, cue_.playing = cue_.seeking = false;
    sound_->cue(cue_);
  }
  bool heard_until(int64_t wall_ns) {
    return eventually([&] {
      const std::lock_guard lock(speaker_.mutex);
      return speaker_.next_ns > wall_ns;
    });
  }

  FakeSpeaker speaker_;
  std::unique_ptr<PlaybackSound> sound_;
  SoundCue cue_;
};

TEST_F(SoundPlayerTest, ASampleIsHeardAtItsTime) {
  open();
  const int64_t wall = now_ns() + 200 * kMs;
  play(700 * kMs, wall);
  ASSERT_TRUE(heard_until(wall + 400 * kMs));
  const auto loud = speaker_.loud(0, 0);
  ASSERT_FALSE(loud.empty());
  EXPECT_NEAR(static_cast<double>(loud.front() - wall), 300.0 * kMs, 1.0 * kMs) << "1000 ms minus 700 ms";
  const SoundClock clock = sound_->clock();
  EXPECT_TRUE(clock.valid);
  EXPECT_EQ(clock.run, cue_.run);
  EXPECT_EQ(clock.pts_ns, 700 * kMs);
  EXPECT_NEAR(static_cast<double>(clock.wall_ns - wall), 0, 1.0 * kMs);
  EXPECT_EQ(sound_->state(), SoundState::playing);
}

TEST_F(SoundPlayerTest, ALateStartSkipsWhatShouldHaveBeenHeard) {
  open();
  const int64_t wall = now_ns() - 500 * kMs;
  play(300 * kMs, wall);
  ASSERT_TRUE(heard_until(wall + 1000 * kMs));
  const auto loud = speaker_.loud(0, 0);
  ASSERT_FALSE(loud.empty());
  EXPECT_NEAR(static_cast<double>(loud.front() - wall), 700.0 * kMs, 1.0 * kMs);
}

TEST_F(SoundPlayerTest, APauseAndASeekAreSilentAtOnce) {
  open();
  play(2 * kSecond, now_ns() + 100 * kMs);
  ASSERT_TRUE(eventually([&] { return !speaker_.loud().empty(); }));
  pause();
  const int64_t paused = now_ns();
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(speaker_.mutex);
    return !speaker_.running;
  }));
  EXPECT_TRUE(speaker_.loud(paused + 100 * kMs).empty());
  EXPECT_FALSE(sound_->clock().valid);

  play(0, now_ns() + 50 * kMs);
  ASSERT_TRUE(heard_until(now_ns() + 300 * kMs));
  EXPECT_TRUE(speaker_.loud(paused + 100 * kMs).empty()) << "the first second of the clip is silent";
}

TEST_F(SoundPlayerTest, ASeekWhileItPlaysDropsWhatIsNotHeardYet) {
  open();
  // The starts are far enough ahead that a busy machine is not late for them: it would drop sound then too.
  play(2 * kSecond, now_ns() + 200 * kMs);
  ASSERT_TRUE(eventually([&] { return !speaker_.loud().empty(); }));
  {
    const std::lock_guard lock(speaker_.mutex);
    EXPECT_EQ(speaker_.flushes, 0) << "a start drops nothing";
  }
  const int64_t seek = now_ns();
  play(0, seek + 200 * kMs);  // the first second of the clip is silent
  ASSERT_TRUE(heard_until(seek + 600 * kMs));
  int64_t flushed = 0;
  {
    const std::lock_guard lock(speaker_.mutex);
    ASSERT_EQ(speaker_.flushes, 1);
    flushed = speaker_.flushed_ns;
  }
  EXPECT_TRUE(speaker_.loud(flushed + 30 * kMs).empty());
}

TEST_F(SoundPlayerTest, VolumeIsCubicAndMuteIsSilent) {
  open({.volume = 50});
  EXPECT_EQ(sound_->volume(), 50);
  play(2 * kSecond, now_ns() + 50 * kMs);
  ASSERT_TRUE(eventually([&] { return speaker_.loud().size() > 5000; }));
  {
    const std::lock_guard lock(speaker_.mutex);
    EXPECT_NEAR(speaker_.heard.back().second, 0.5 / 8, 0.001);
  }
  sound_->set_muted(true);
  EXPECT_TRUE(sound_->muted());
  const int64_t muted = now_ns();
  ASSERT_TRUE(heard_until(muted + 300 * kMs));
  EXPECT_TRUE(speaker_.loud(muted + 200 * kMs).empty());
  EXPECT_EQ(sound_->state(), SoundState::playing) << "the clock runs on";
  sound_->set_volume(1000);
  EXPECT_EQ(sound_->volume(), kMaxVolume);
}

TEST_F(SoundPlayerTest, WithoutAServerThereIsNoClockAndANotice) {
  speaker_.link = SoundOutput::Link::lost;
  open();
  play(0, now_ns());
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::no_server; }));
  EXPECT_FALSE(sound_->clock().valid);
  EXPECT_EQ(sound_->lead_ns(), 0);
  const auto notices = sound_->take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].text, "No sound: there is no sound server");
  {
    const std::lock_guard lock(speaker_.mutex);
    speaker_.link = SoundOutput::Link::ready;
  }
  ASSERT_TRUE(eventually([&] { return sound_->clock().valid; })) << "it comes back";
  ASSERT_TRUE(eventually([&] { return !speaker_.loud().empty(); }));
  EXPECT_EQ(sound_->take_notices().size(), 1u);
}

TEST_F(SoundPlayerTest, OddSpeedsAreSilentWithAReason) {
  open();
  cue_.speed = 10;
  play(2 * kSecond, now_ns());
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::odd_speed; }));
  cue_.speed = 2;
  play(2 * kSecond, now_ns());
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::playing && !speaker_.loud().empty(); }));
}

TEST_F(SoundPlayerTest, TheEndAndDamagedAudioHaveTheirStates) {
  open();
  play(9900 * kMs, now_ns() + 50 * kMs);
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::ended; }));
  EXPECT_FALSE(sound_->clock().valid);
  put("broken.wav", "RIFF and nothing else");
  open_file("broken.wav");
  play(0, now_ns());
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::broken; }));
  EXPECT_EQ(sound_->take_notices().size(), 1u);
}

TEST(OpenSound, NamesWhyThereIsNoSound) {
  SourceInfo source;
  EXPECT_EQ(open_sound("x", source, {.on = false})->state(), SoundState::off);
  EXPECT_EQ(open_sound("x", source, {})->state(), SoundState::no_track);
  source.has_audio = true;
  const auto sound = open_sound("x", source, {.volume = 30, .muted = true});
  EXPECT_EQ(sound->state(), SoundState::refused);
  EXPECT_EQ(sound->volume(), 30) << "kept for the next source";
  EXPECT_TRUE(sound->muted());
  for (int i = 0; i < static_cast<int>(SoundState::playing); ++i)
    EXPECT_TRUE(std::string(sound_reason(static_cast<SoundState>(i))).starts_with("No sound")) << i;
  EXPECT_STREQ(sound_reason(SoundState::playing), "");
}

}  // namespace
}  // namespace lensd
