// app/pipeline/playback_clock.hpp: when frames are due, and which are late.
#include <gtest/gtest.h>

#include "app/pipeline/playback_clock.hpp"

namespace lensd {
namespace {

constexpr int64_t kMs = 1'000'000, kFrame = 40 * kMs;

TEST(PlaybackClock, TheFirstFrameIsDueAtOnceAndTheOthersFollowIt) {
  PlaybackClock clock;
  EXPECT_FALSE(clock.running());
  EXPECT_EQ(clock.until_due(500 * kMs, kFrame, 1000 * kMs).ns, 0);
  EXPECT_TRUE(clock.running());
  EXPECT_EQ(clock.until_due(540 * kMs, kFrame, 1010 * kMs).ns, 30 * kMs);
  EXPECT_EQ(clock.until_due(540 * kMs, kFrame, 1030 * kMs).ns, 10 * kMs) << "the same frame, requested again";
  EXPECT_EQ(clock.until_due(580 * kMs, kFrame, 1080 * kMs).ns, 0);
  clock.restart();
  EXPECT_EQ(clock.until_due(0, kFrame, 5000 * kMs).ns, 0);
  EXPECT_EQ(clock.until_due(kFrame, kFrame, 5000 * kMs).ns, kFrame);
}

TEST(PlaybackClock, SpeedScalesTheWait) {
  for (const double speed : {0.25, 1.0, 8.0}) {
    PlaybackClock clock;
    clock.set_speed(speed);
    clock.until_due(0, kFrame, 0);
    EXPECT_EQ(clock.until_due(400 * kMs, kFrame, 0).ns,
              static_cast<int64_t>(static_cast<double>(400 * kMs) / speed));
  }
}

TEST(PlaybackClock, AFrameIsLateByMoreThanItsDuration) {
  PlaybackClock clock;
  clock.until_due(0, kFrame, 0);
  EXPECT_FALSE(clock.until_due(kFrame, kFrame, 2 * kFrame).late);
  const auto wait = clock.until_due(kFrame, kFrame, 2 * kFrame + 1);
  EXPECT_TRUE(wait.late);
  EXPECT_EQ(wait.ns, -kFrame - 1);
  // An unknown duration counts as one millisecond.
  EXPECT_FALSE(clock.until_due(kFrame, 0, kFrame + kMs).late);
  EXPECT_TRUE(clock.until_due(kFrame, 0, kFrame + kMs + 1).late);
}

TEST(PlaybackClock, RestartsWhereTheGraphIsTooSlow) {
  PlaybackClock clock;
  clock.until_due(0, kFrame, 0);
  EXPECT_EQ(clock.until_due(0, kFrame, 4 * kFrame).ns, -4 * kFrame) << "may still catch up";
  const auto wait = clock.until_due(0, kFrame, 4 * kFrame + 1);
  EXPECT_TRUE(wait.late);
  EXPECT_EQ(wait.ns, 0);
  EXPECT_EQ(clock.until_due(kFrame, kFrame, 4 * kFrame + 1).ns, kFrame) << "relative to the late frame";
}

TEST(PlaybackClock, RestartsAtAJumpOfTheTimestamps) {
  PlaybackClock clock;
  clock.until_due(0, kFrame, 0);
  EXPECT_EQ(clock.until_due(10'000 * kMs, kFrame, 0).ns, 10'000 * kMs);
  const auto wait = clock.until_due(10'001 * kMs, kFrame, 0);
  EXPECT_EQ(wait.ns, 0);
  EXPECT_FALSE(wait.late);
  EXPECT_EQ(clock.until_due(10'041 * kMs, kFrame, 0).ns, kFrame);
}

TEST(PlaybackClock, WaitsForFramesThatLastLong) {
  constexpr int64_t kLong = 15'000 * kMs;  // a slide show
  PlaybackClock clock;
  clock.until_due(0, kLong, 0);
  EXPECT_EQ(clock.until_due(kLong, 3 * kLong, 0).ns, kLong);
  EXPECT_EQ(clock.until_due(kLong, 3 * kLong, kLong).ns, 0) << "the same frame, when it is due";
  EXPECT_EQ(clock.until_due(4 * kLong, kFrame, kLong).ns, 3 * kLong)
      << "the duration of the frame before counts";
  EXPECT_TRUE(clock.until_due(5 * kLong, kLong, 4 * kLong).restarted) << "a jump: the frame before was short";

  PlaybackClock slow;
  slow.set_speed(0.05);
  slow.until_due(0, 1000 * kMs, 0);
  EXPECT_EQ(slow.until_due(1000 * kMs, 1000 * kMs, 0).ns, 20'000 * kMs);
}

TEST(PlaybackClock, WaitsForTrustedGaps) {
  PlaybackClock clock;
  clock.trust_until(60'000 * kMs);
  clock.until_due(0, kFrame, 0);
  EXPECT_EQ(clock.shown_ns(0, 60'000 * kMs), 60'000 * kMs);
  EXPECT_EQ(clock.until_due(60'000 * kMs, kFrame, 0).ns, 60'000 * kMs);
  EXPECT_EQ(clock.shown_ns(60'000 * kMs, 80'000 * kMs), 0) << "after the announced end";
  EXPECT_TRUE(clock.until_due(80'000 * kMs, kFrame, 60'000 * kMs).restarted);
}

TEST(PlaybackClock, FarTimestampsAreNotOverdueInSlowPlayback) {
  constexpr int64_t kFar = INT64_MAX / 5, kNow = 1000 * kMs;  // 58 years
  PlaybackClock clock;
  clock.set_speed(0.01);
  clock.until_due(0, kFrame, kNow);
  EXPECT_GT(clock.until(kFar, kNow), 0);
  EXPECT_LT(clock.until(-kFar, kNow), 0);
  EXPECT_EQ(clock.shown_ns(0, kFar), 0) << "a jump";
  const auto jump = clock.until_due(kFar, kFrame, kNow);
  EXPECT_TRUE(jump.restarted);
  EXPECT_FALSE(jump.late);

  PlaybackClock trusting;
  trusting.set_speed(0.01);
  trusting.trust_until(kFar);
  trusting.until_due(0, kFrame, kNow);
  EXPECT_GT(trusting.shown_ns(0, kFar), 0);
  EXPECT_FALSE(trusting.until_due(kFar, kFrame, kNow).restarted);
}

TEST(PlaybackClock, ThePositionAdvancesWithTheSpeed) {
  PlaybackClock clock;
  clock.set_speed(2);
  clock.until_due(1000 * kMs, kFrame, 500 * kMs);
  EXPECT_EQ(clock.position(500 * kMs), 1000 * kMs);
  EXPECT_EQ(clock.position(600 * kMs), 1200 * kMs);
  EXPECT_EQ(clock.shown_ns(1000 * kMs, 1500 * kMs), 250 * kMs);
}

TEST(PlaybackClock, FarTimesDoNotOverflowAtLowSpeeds) {
  constexpr int64_t kFar = INT64_MAX / 4 - 1;
  PlaybackClock clock;
  clock.set_speed(0.01);
  clock.trust_until(kFar);
  clock.until_due(0, kFar, 5 * kFrame);
  EXPECT_GT(clock.until(kFar, 5 * kFrame), kFar / 2);
  EXPECT_LT(clock.until(-kFar, 5 * kFrame), -kFar / 2);
  EXPECT_GT(clock.shown_ns(0, kFar), kFar / 2);
  EXPECT_FALSE(clock.until_due(kFar, kFar, 5 * kFrame).restarted);
}

TEST(PlaybackClock, UntilDoesNotRestart) {
  PlaybackClock clock;
  EXPECT_EQ(clock.until(kFrame, 0), 0) << "not running";
  EXPECT_FALSE(clock.running());
  clock.until_due(0, kFrame, 0);
  EXPECT_EQ(clock.until(100 * kFrame, kFrame), 99 * kFrame);
  EXPECT_EQ(clock.until(0, 100 * kFrame), -100 * kFrame);
  EXPECT_EQ(clock.until_due(kFrame, kFrame, 0).ns, kFrame);
}

}  // namespace
}  // namespace lensd
