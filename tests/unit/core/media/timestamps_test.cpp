// Timestamps of pictures: variable, missing and jumping ones.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/input/times/timestamps.hpp"

namespace lensd {
namespace {

TEST(Timestamps, RegularVariableAndMissing) {
  TimestampNormalizer times(40);
  EXPECT_EQ(times.normalize(1000), 0);
  EXPECT_EQ(times.normalize(1040), 40);
  EXPECT_EQ(times.normalize(std::nullopt), 80);
  EXPECT_EQ(times.normalize(1500), 500);  // a gap is kept
  EXPECT_EQ(times.normalize(1500), 540);  // a repeated time is replaced
  EXPECT_EQ(times.normalize(1600), 600);
}

TEST(Timestamps, AbsurdTimesDoNotOverflow) {
  TimestampNormalizer times(40);
  int64_t last = times.normalize(0);
  const int64_t far = INT64_MAX / 4 - 1;  // plausible, alone
  for (int round = 0; round < 50; ++round)
    for (const int64_t raw : {far, -far, INT64_MIN, INT64_MAX, int64_t{0}}) {
      const int64_t now = times.normalize(raw);
      EXPECT_GT(now, last);
      last = now;
    }
}

TEST(Timestamps, ANominalDurationOfYearsDoesNotOverflow) {
  TimestampNormalizer times(INT64_MAX / 4 - 1);
  int64_t last = -1;
  for (int i = 0; i < 50; ++i) {
    const int64_t now = times.normalize(i % 2 ? std::optional<int64_t>(i) : std::nullopt);
    EXPECT_GT(now, last);
    last = now;
  }
}

TEST(Timestamps, TicksThatOverflowAreLimited) {
  for (const int64_t ticks : {INT64_MAX, INT64_MAX / 2}) {
    EXPECT_GT(ff::to_ns(ticks, {1, 1}), 0);
    EXPECT_LT(ff::to_ns(-ticks, {1, 1}), 0);
    EXPECT_FALSE(plausible(ff::to_ns(ticks, {1, 1})));
    EXPECT_FALSE(plausible(ff::to_ns(-ticks, {1, 1})));
  }
  EXPECT_FALSE(plausible(ff::to_ns(INT64_MIN, ff::kNanoseconds)));
  EXPECT_EQ(ff::to_ns(90000, {1, 90000}), 1'000'000'000);
}

TEST(Timestamps, JumpsBackwardsContinue) {
  constexpr int64_t s = 1'000'000'000;
  TimestampNormalizer times(s / 25);
  EXPECT_EQ(times.normalize(0), 0);
  EXPECT_EQ(times.normalize(10 * s), 10 * s);
  EXPECT_EQ(times.normalize(2 * s), 10 * s + s / 25);
  EXPECT_EQ(times.normalize(3 * s), 11 * s + s / 25);
  times.restart(5 * s);
  EXPECT_EQ(times.normalize(5 * s), 5 * s);
  times.restart(7 * s);
  EXPECT_EQ(times.normalize(std::nullopt), 7 * s);
}

TEST(Timestamps, LateFramesCatchUp) {
  TimestampNormalizer times(40);
  const struct {
    int64_t raw, pts;
  } cases[] = {{0, 0},    {40, 40},   {40, 80},  // one frame too many
               {80, 120}, {120, 140}, {160, 160}, {200, 200}, {240, 240}};
  for (const auto& c : cases) EXPECT_EQ(times.normalize(c.raw), c.pts) << c.raw;
  TimestampNormalizer same(40);  // times that do not advance give the nominal rate
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(same.normalize(500), i * 40);
}

TEST(Timestamps, AClockThatSeemsToWrapContinues) {
  constexpr int64_t s = 1'000'000'000, wrap = 95'443 * s;
  TimestampNormalizer times(s / 25);
  EXPECT_EQ(times.normalize(100 * s), 0);
  EXPECT_EQ(times.normalize(120 * s), 20 * s);
  EXPECT_EQ(times.normalize(120 * s + 11 * 3600 * s), 20 * s + 11 * 3600 * s) << "a gap is kept";
  TimestampNormalizer joined(s / 25);
  EXPECT_EQ(joined.normalize(100 * s), 0);
  EXPECT_EQ(joined.normalize(120 * s), 20 * s);
  EXPECT_EQ(joined.normalize(wrap + 1 * s), 20 * s + s / 25);
  EXPECT_EQ(joined.normalize(wrap + 2 * s), 21 * s + s / 25);
}

TEST(Timestamps, EachTimeAfterAJumpIsExact) {
  constexpr int64_t ms = 1'000'000;
  TimestampNormalizer times(40 * ms);
  const struct {
    int64_t raw_ms, pts_ms;
  } cases[] = {
      {90'000, 0},      {90'040, 40},       {89'041, 80},  // 999 ms back: only this time changes
      {90'120, 120},                                       // same distance to the first time
      {95'120, 5120},                                      // a gap is kept
      {94'120, 5160},                                      // one second back is not a jump either
      {95'200, 5200},   {10, 5240},                        // a jump: continues one frame later
      {50, 5280},       {90, 5320},         {590, 5820},    {0, 5860},  // 590 ms back
      {630, 5860 + 40}, {700'000, 705'230},                             // forward: a gap
      {5, 705'270},     {45, 705'310},      {245, 705'510},
  };
  for (const auto& c : cases) EXPECT_EQ(times.normalize(c.raw_ms * ms), c.pts_ms * ms) << c.raw_ms;
  EXPECT_EQ(times.origin_ns(), 90'000 * ms);
}

}  // namespace
}  // namespace lensd
