// app/pipeline/sound_sync.hpp: the cues for the sound, and the clock that the pictures follow.
#include <gtest/gtest.h>

#include "app/pipeline/sound_sync.hpp"

namespace lensd {
namespace {

constexpr int64_t kMillisecond = 1'000'000, kPictureNs = 40 * kMillisecond;

class FakeSound final : public PlaybackSound {
 public:
  void cue(const SoundCue& next) noexcept override { cues.push_back(next); }
  SoundClock clock() const noexcept override { return heard; }
  int64_t lead_ns() const noexcept override { return lead; }
  void set_volume(double) noexcept override {}
  void set_muted(bool) noexcept override {}
  double volume() const noexcept override { return 100; }
  bool muted() const noexcept override { return false; }
  SoundState state() const noexcept override { return SoundState::playing; }
  std::vector<Notice> take_notices() override { return {}; }

  std::vector<SoundCue> cues;
  SoundClock heard;
  int64_t lead = 0;
};

class SoundSyncTest : public testing::Test {
 protected:
  PlaybackClock::Wait wait(int64_t pts_ns, int64_t now_ns) {
    return sync_.until_due(clock_, pts_ns, kPictureNs, now_ns);
  }
  const SoundCue& cue() const { return sound_->cues.back(); }

  std::shared_ptr<FakeSound> sound_ = std::make_shared<FakeSound>();
  PlaybackClock clock_;
  SoundSync sync_{sound_};
};

TEST_F(SoundSyncTest, TheFirstPictureIsShownAtOnceAndTheNextOnesWithTheSound) {
  sound_->lead = 80 * kMillisecond;
  EXPECT_EQ(wait(0, 1000 * kMillisecond).ns, 0);
  ASSERT_EQ(sound_->cues.size(), 1u);
  EXPECT_TRUE(cue().playing);
  EXPECT_EQ(cue().pts_ns, 0);
  EXPECT_EQ(cue().wall_ns, 1080 * kMillisecond);
  EXPECT_EQ(wait(kPictureNs, 1000 * kMillisecond).ns, 120 * kMillisecond);
  EXPECT_EQ(sound_->cues.size(), 1u);
}

TEST_F(SoundSyncTest, PicturesFollowTheClockOfTheirOwnRun) {
  wait(0, 0);
  sound_->heard = {cue().run, true, 0, 7 * kMillisecond};
  EXPECT_EQ(wait(kPictureNs, 0).ns, 47 * kMillisecond);
  sound_->heard = {cue().run + 1, true, 0, 500 * kMillisecond};
  EXPECT_EQ(wait(kPictureNs, 0).ns, 47 * kMillisecond) << "the clock of another run";
  sound_->heard = {cue().run, false, 0, 500 * kMillisecond};
  EXPECT_EQ(wait(kPictureNs, 0).ns, 47 * kMillisecond) << "without sound the last mapping continues";
}

TEST_F(SoundSyncTest, ASeekDecodesFromItsPositionAndAResumeKeepsTheDecodedSound) {
  wait(0, 0);
  const uint64_t first = cue().seek;
  sync_.stop(10'000 * kMillisecond, true);
  clock_.restart();
  EXPECT_FALSE(cue().playing);
  EXPECT_TRUE(cue().seeking);
  EXPECT_EQ(cue().from_ns, 10'000 * kMillisecond);
  const uint64_t seek = cue().seek;
  EXPECT_NE(seek, first);
  wait(10'020 * kMillisecond, 0);
  EXPECT_TRUE(cue().playing);
  EXPECT_EQ(cue().seek, seek) << "the first picture after the target";

  sync_.stop(10'100 * kMillisecond, false);
  const uint64_t paused = cue().seek;
  EXPECT_NE(paused, seek);
  sync_.stop(10'100 * kMillisecond, true);
  clock_.restart();
  wait(10'140 * kMillisecond, 0);
  EXPECT_EQ(cue().seek, paused);
  EXPECT_TRUE(cue().playing);
}

TEST_F(SoundSyncTest, APictureFarFromThePositionDecodesAnew) {
  sync_.stop(5'000 * kMillisecond, true);
  const uint64_t seek = cue().seek;
  wait(6'000 * kMillisecond, 0);
  EXPECT_NE(cue().seek, seek);
  EXPECT_EQ(cue().from_ns, 6'000 * kMillisecond);
}

TEST_F(SoundSyncTest, AGraphThatIsTooSlowIsSilentUntilItKeepsUp) {
  wait(0, 0);
  int64_t now = 0;
  for (int frame = 1; frame <= 3; ++frame) {  // the graph takes a second per frame
    now += 1000 * kMillisecond;
    wait(frame * kPictureNs, now);
  }
  EXPECT_FALSE(cue().playing);
  EXPECT_TRUE(cue().too_slow);
  for (int frame = 4; frame < 60; ++frame) {
    now += kPictureNs;
    wait(frame * kPictureNs, now);
  }
  EXPECT_TRUE(cue().playing) << "two seconds in time";
  EXPECT_FALSE(cue().too_slow);
}

TEST_F(SoundSyncTest, AnotherSpeedDecodesFromThePosition) {
  wait(0, 0);
  for (const double speed : {2.0, 0.5}) {
    const uint64_t before = cue().seek;
    sync_.set_speed(speed, kPictureNs);
    EXPECT_GT(cue().seek, before) << "the decoded sound has the earlier speed";
    EXPECT_EQ(cue().speed, speed);
    EXPECT_EQ(cue().from_ns, kPictureNs);
    EXPECT_FALSE(cue().playing);
    EXPECT_TRUE(cue().seeking);
  }
}

TEST_F(SoundSyncTest, TheEndOfTheSoundIsKnownWhenItIsHeard) {
  EXPECT_EQ(sync_.end_ns(), 0) << "not started";
  wait(0, 0);
  sound_->heard = {cue().run, true, 0, 0};
  sound_->heard.end_ns = INT64_MAX;
  EXPECT_EQ(sync_.end_ns(), INT64_MAX) << "it is heard";
  sound_->heard.valid = false;
  EXPECT_EQ(sync_.end_ns(), 0) << "none is heard";
  sound_->heard.end_ns = 7 * kMillisecond;
  EXPECT_EQ(sync_.end_ns(), 7 * kMillisecond);
  ++sound_->heard.run;
  EXPECT_EQ(sync_.end_ns(), 0) << "another run";
}

TEST(SoundSync, WithoutSoundItIsThePlaybackClock) {
  SoundSync sync(nullptr);
  PlaybackClock clock;
  EXPECT_EQ(sync.until_due(clock, 0, kPictureNs, 0).ns, 0);
  EXPECT_EQ(sync.until_due(clock, kPictureNs, kPictureNs, 0).ns, kPictureNs);
  sync.stop(0, true);
  sync.set_speed(2, 0);
}

}  // namespace
}  // namespace lensd
