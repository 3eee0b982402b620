// LiveTimeline: times within a connection, jumps, bursts, and senders with a wrong clock.
#include <gtest/gtest.h>

#include "core/media/live/live_timeline.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

class LiveTimelineTest : public testing::Test {
 protected:
  /// Plays `count` pictures whose times advance by `step` and that arrive every `interval`. Checks that the
  /// times increase.
  void play(int count, int64_t step, int64_t interval) {
    for (int i = 0; i < count; ++i) {
      now += interval;
      const int64_t before = pts;
      pts = timeline.picture(stream += step, now, connected);
      EXPECT_GT(pts, before);
      connected = true;
    }
  }
  int64_t late() const { return now - pts; }

  LiveTimeline timeline;
  int64_t now = 0, stream = 7 * sec, pts = -1;
  bool connected = false;
};

TEST_F(LiveTimelineTest, FollowsTheStreamThroughJitterAndBursts) {
  play(25, 40 * msec, 40 * msec);
  const int64_t before = pts;
  play(1, 40 * msec, 5 * sec);  // an outage of the network without loss
  play(124, 40 * msec, 1 * msec);
  EXPECT_EQ(pts, before + 125 * 40 * msec);
  play(500, 40 * msec, 40 * msec);
  EXPECT_EQ(pts, before + 625 * 40 * msec);
}

TEST_F(LiveTimelineTest, AConnectionStartsAtTheArrivalTime) {
  play(25, 40 * msec, 40 * msec);
  EXPECT_EQ(pts, now);
  now += 3 * sec;
  EXPECT_EQ(timeline.placeholder(now), now);
  connected = false;
  play(2, 40 * msec, 40 * msec);
  EXPECT_EQ(pts, now);
}

TEST_F(LiveTimelineTest, ASlowSenderStaysCloseToTheClock) {
  for (int i = 0; i < 100; ++i) {
    play(1, 40 * msec, 200 * msec);
    EXPECT_LT(late(), 3 * sec);
  }
  EXPECT_GE(pts, 17 * sec);
}

TEST_F(LiveTimelineTest, AFastSenderStaysCloseToTheClock) {
  for (int i = 0; i < 500; ++i) {
    play(1, 80 * msec, 40 * msec);
    EXPECT_GT(late(), -4 * sec);
  }
  play(500, 40 * msec, 40 * msec);
  EXPECT_GE(late(), -1 * sec) << "its clock is right again";
}

TEST_F(LiveTimelineTest, ASmallDriftIsCorrectedRarely) {
  int jumps = 0;
  for (int i = 0; i < 100'000; ++i) {  // 67 minutes; the sender's clock is 0.1 % slow
    const int64_t before = pts;
    play(1, 39'960'000, 40 * msec);
    if (pts - before > 45 * msec) ++jumps;
    EXPECT_LT(late(), 1010 * msec);
  }
  EXPECT_GE(jumps, 3);
  EXPECT_LE(jumps, 4);
}

}  // namespace
}  // namespace lensd
