// RateMeter: exact rates of drifting clocks, jitter, pauses and other clocks.
#include "core/media/live/rate_meter.hpp"

#include <gtest/gtest.h>

#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

TEST(RateMeter, MeasuresACameraWhoseClockDrifts) {
  RateMeter meter;
  EXPECT_EQ(meter.rate(), 0);
  for (int i = 0; i < 4; ++i) meter.add(i * 33 * msec);
  EXPECT_EQ(meter.rate(), 0) << "too few pictures";
  meter.restart();
  const double interval = 1e9 / 29.95;  // nominally 30
  for (int i = 0; i < 1000; ++i) {
    const int64_t jitter = (i % 7 - 3) * msec;
    meter.add(static_cast<int64_t>(i * interval) + jitter);
  }
  EXPECT_NEAR(meter.rate(), 29.95, 0.05);
}

TEST(RateMeter, FollowsAChangeWithinFiveSeconds) {
  RateMeter meter;
  int64_t now = 0;
  for (int i = 0; i < 300; ++i) meter.add(now += sec / 50);
  EXPECT_NEAR(meter.rate(), 50, 0.01);
  for (int i = 0; i < 130; ++i) meter.add(now += sec / 25);
  EXPECT_NEAR(meter.rate(), 25, 0.01);
}

TEST(RateMeter, AFastCameraFillsTheMemory) {
  RateMeter meter;
  for (int64_t i = 0; i < 5000; ++i) meter.add(i * sec / 1000);
  EXPECT_NEAR(meter.rate(), 1000, 0.01);
}

TEST(RateMeter, AnotherClockStartsAgain) {
  RateMeter meter;
  for (int i = 0; i < 100; ++i) meter.add(100 * sec + i * sec / 10);
  meter.add(1 * sec);
  EXPECT_EQ(meter.rate(), 0);
  for (int i = 1; i < 20; ++i) meter.add(1 * sec + i * sec / 20);
  EXPECT_NEAR(meter.rate(), 20, 0.01);
}

TEST(RateMeter, FivePicturesWithinFiveSecondsAreEnough) {
  const auto rate_from = [](int64_t first) {
    RateMeter meter;
    meter.add(first);
    for (const int64_t stamp : {57, 58, 59, 60}) meter.add(stamp * sec / 10);
    return meter.rate();
  };
  EXPECT_DOUBLE_EQ(rate_from(sec), 0.8);
  EXPECT_EQ(rate_from(sec - 1), 0) << "the first one is older than five seconds";
  RateMeter meter;
  for (int i = 0; i < 4; ++i) meter.add(sec + i * sec / 10);
  EXPECT_EQ(meter.rate(), 0) << "four";
  meter.add(sec + 4 * sec / 10);
  EXPECT_DOUBLE_EQ(meter.rate(), 10);
  meter.add(sec + 4 * sec / 10);
  EXPECT_EQ(meter.rate(), 0) << "a time that does not increase is from another clock";
}

}  // namespace
}  // namespace lensd
