// SilenceLimit: defaults of the schemes, the user's limit, sources with a low rate.
#include <gtest/gtest.h>

#include "core/media/live/silence_limit.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

/// Returns the limit after `count` packets of a source with this interval.
int64_t limit(const std::string& url, const LiveOptions& live, int64_t interval, int count = 20) {
  SilenceLimit silence(url, live);
  for (int i = 0; i < count; ++i) silence.packet(5 * sec + i * interval);
  return silence.ns();
}

TEST(SilenceLimit, DatagramsAreLostAfterASecondByDefault) {
  const LiveOptions live;
  EXPECT_EQ(SilenceLimit().ns(), 0);
  for (const char* url : {"udp://127.0.0.1:1", "srt://host:1?latency=50"})
    EXPECT_EQ(limit(url, live, 40 * msec), 1 * sec) << url;
  for (const char* url : {"rtsp://host/a", "http://host/a", "srt://:1?mode=listener"})
    EXPECT_EQ(limit(url, live, 40 * msec), 3 * sec) << url;
}

TEST(SilenceLimit, AbsurdTimesAreNotMeasured) {
  SilenceLimit silence("udp://127.0.0.1:1", {});
  for (const int64_t time : {INT64_MIN, INT64_MAX, INT64_MIN, int64_t{0}}) silence.packet(time);
  EXPECT_EQ(silence.ns(), 3 * sec) << "not measured yet";
}

TEST(SilenceLimit, TheUsersLimitIsKept) {
  LiveOptions live;
  live.silence_given = true;
  for (const int64_t chosen : {500 * msec, 3 * sec, 10 * sec}) {
    live.silence_ns = chosen;
    for (const char* url : {"udp://127.0.0.1:1", "srt://host:1"})
      EXPECT_EQ(limit(url, live, 40 * msec), chosen) << url;
  }
}

TEST(SilenceLimit, SourcesWithALowRateHaveThreeIntervals) {
  const LiveOptions live;
  const std::string url = "udp://127.0.0.1:1";
  EXPECT_EQ(limit(url, live, 1 * sec, 1), 3 * sec) << "not measured yet";
  EXPECT_EQ(limit(url, live, 1 * sec, 2), 3 * sec);
  EXPECT_EQ(limit(url, live, 2 * sec), 6 * sec);
  EXPECT_EQ(limit(url, live, 9 * sec), 10 * sec);
  EXPECT_EQ(limit(url, live, -40 * msec), 3 * sec) << "times that go backwards are ignored";
}

TEST(SilenceLimit, SlowCamerasHaveAMinuteThenThreeIntervals) {
  const auto slow_limit = [](const LiveOptions& live, int64_t interval, int count) {
    SilenceLimit silence("http://host/video.mjpg", live);
    silence.allow_slow();
    for (int i = 0; i < count; ++i) silence.packet(5 * sec + i * interval);
    return silence.ns();
  };
  LiveOptions live;
  EXPECT_EQ(slow_limit(live, 40 * msec, 0), 60 * sec);
  EXPECT_EQ(slow_limit(live, 10 * sec, 3), 60 * sec) << "a camera may send its first picture twice";
  EXPECT_EQ(slow_limit(live, 10 * sec, 20), 30 * sec);
  EXPECT_EQ(slow_limit(live, 100 * sec, 20), 300 * sec);
  EXPECT_EQ(slow_limit(live, 500 * sec, 20), SilenceLimit::kSlowestNs);
  EXPECT_EQ(slow_limit(live, 40 * msec, 20), 3 * sec);
  live.silence_given = true;
  EXPECT_EQ(slow_limit(live, 10 * sec, 20), 3 * sec) << "the user's limit";
}

TEST(SilenceLimit, AnSrtListenerByOptionWaitsForItsCaller) {
  LiveOptions live;
  live.extra = {{"mode", "listener"}};
  EXPECT_EQ(limit("srt://:1", live, 40 * msec), 3 * sec);
}

}  // namespace
}  // namespace lensd
