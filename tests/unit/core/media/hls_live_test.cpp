// Live HLS playlists: pictures at the stream's rate from segments that arrive in bursts, outages, restarts.
#include <chrono>
#include <climits>
#include <set>
#include <thread>

#include "core/media/live/live_audio.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/hls_fixture.hpp"

namespace lensd::test {
namespace {

using namespace std::chrono_literals;
constexpr int64_t kHlsSecond = 1'000'000'000;

/// A server with a new segment every second, and a playlist of the newest ones.
class LiveHls {
 public:
  static constexpr int kListed = 5, kMaterial = 40;

  /// Number of the first segment of the stream, and the time of its first picture.
  void restart(int first, double first_s) {
    const std::lock_guard lock(mutex_);
    first_ = first, first_s_ = first_s, begin_ns_ = now_ns() - kListed * kHlsSecond;
  }
  std::string operator()(const std::string& path) {
    if (down) return "!";
    const std::lock_guard lock(mutex_);
    const auto in_time = static_cast<int>((now_ns() - begin_ns_ - late_ns) / kHlsSecond);
    const int end = first_ + (stopped_at ? stopped_at.load() : std::max(kListed, in_time));
    if (path == "/live.m3u8")
      return hls_list(std::max(first_, end - listed), std::min(listed.load(), end - first_), ended);
    const int number = std::atoi(path.c_str() + 1);
    if (number >= end || number < first_) return "";
    std::string& segment = segments_[{number, first_s_}];
    if (segment.empty())
      segment = hls_segment(number - first_, first_s_,
                            number >= other_codec_from ? AV_CODEC_ID_MPEG4 : AV_CODEC_ID_MPEG2VIDEO);
    return segment;
  }
  std::atomic<bool> down{false}, ended{false};
  std::atomic<int> listed{kListed};            ///< number of segments in the playlist
  std::atomic<int64_t> late_ns{0};             ///< delay of all segments after the first kListed ones
  std::atomic<int> other_codec_from{INT_MAX};  ///< number of the first segment with another codec
  std::atomic<int> stopped_at{0};              ///< number of segments from now on; 0: a new one every second

 private:
  std::mutex mutex_;
  int first_ = 0;
  double first_s_ = 0;
  int64_t begin_ns_ = now_ns() - kListed * kHlsSecond;
  std::map<std::pair<int, double>, std::string> segments_;
};

struct Watch {
  int pictures = 0;
  int64_t longest_gap_ns = 0, last_ns = 0;
  std::set<LiveState> states;
  std::vector<int64_t> stamps;
};

/// Reads pictures for `seconds`, or until `done`.
Watch watch(Source& source, double seconds, const std::function<bool()>& done = nullptr) {
  Watch out;
  const int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (now_ns() < end && !(done && done())) {
    Picture picture;
    const FrameOutcome outcome = source.next(picture);
    out.states.insert(source.live_status().state);
    if (outcome != FrameOutcome::ok || picture.info.placeholder) continue;
    const int64_t now = now_ns();
    if (out.last_ns) out.longest_gap_ns = std::max(out.longest_gap_ns, now - out.last_ns);
    out.last_ns = now, ++out.pictures;
    out.stamps.push_back(picture.info.stamp_ns);
  }
  return out;
}

class HlsLiveTest : public MediaTest {
 protected:
  LiveHls live_;
  HlsServer server_{[this](const std::string& path) { return live_(path); }};
};

TEST_F(HlsLiveTest, PicturesComeAtTheRateOfTheStream) {
  SourceOptions options = hls_options();
  options.live.audio = std::make_shared<LiveAudio>(0);
  const auto source = open_source(server_.url(), options);
  EXPECT_TRUE(source->info().live);
  EXPECT_FALSE(source->info().seekable);
  watch(*source, 1);
  const Watch seen = watch(*source, 6);
  EXPECT_NEAR(seen.pictures, 6 * kClipFps, 10);
  EXPECT_LT(to_s(seen.longest_gap_ns), 0.6) << "the state would be stalled after 0.7 s";
  EXPECT_EQ(seen.states, std::set{LiveState::playing});
  for (size_t i = 1; i < seen.stamps.size(); ++i)
    EXPECT_EQ(seen.stamps[i] - seen.stamps[i - 1], kHlsSecond / kClipFps) << i;
  const LiveStatus status = source->live_status();
  EXPECT_EQ(status.dropped, 0u);
  EXPECT_EQ(status.stalls, 0u);
  EXPECT_EQ(status.reconnects, 0u);
  EXPECT_TRUE(options.live.audio->flows(1));
}

TEST_F(HlsLiveTest, ASingleListedSegmentThatIsFollowedLateCausesNoGap) {
  live_.listed = 1, live_.late_ns = 350'000'000;
  live_.restart(0, 500);
  const auto source = open_source(server_.url(), hls_options());
  const Watch seen = watch(*source, 5);
  EXPECT_GT(seen.pictures, 3 * kClipFps);
  EXPECT_LT(to_s(seen.longest_gap_ns), 0.35);
}

TEST_F(HlsLiveTest, AnOutageAndARestartOfTheServer) {
  live_.restart(1000, 500);
  const auto source = open_source(server_.url(), hls_options());
  EXPECT_GT(watch(*source, 2).pictures, kClipFps);
  live_.down = true;
  const Watch outage =
      watch(*source, 10, [&] { return source->live_status().state == LiveState::reconnecting; });
  EXPECT_GT(outage.pictures, kClipFps) << "what was read ahead";
  EXPECT_NE(source->live_status().reason, "");
  live_.restart(0, 3);
  live_.down = false;
  const int64_t back_ns = now_ns();
  const Watch after = watch(*source, 10, [&] { return source->live_status().state == LiveState::playing; });
  EXPECT_LT(to_s(now_ns() - back_ns), 5);
  const Watch again = watch(*source, 3);
  EXPECT_NEAR(again.pictures, 3 * kClipFps, kClipFps);
  EXPECT_EQ(source->live_status().reconnects, 1u);
}

TEST_F(HlsLiveTest, ARestartWithOtherNumbersIsNoticed) {
  live_.restart(1000, 500);
  const auto source = open_source(server_.url(), hls_options());
  watch(*source, 1);
  live_.restart(0, 3);
  const int64_t begin = now_ns();
  watch(*source, 15, [&] { return source->live_status().reconnects > 0; });
  EXPECT_LT(to_s(now_ns() - begin), 7) << "waited for segment 1006";
  EXPECT_GT(watch(*source, 2).pictures, kClipFps);
}

TEST_F(HlsLiveTest, NothingIsPlayedTwiceIfTheStreamStops) {
  const auto source = open_source(server_.url(), hls_options());
  live_.stopped_at = 7;
  Watch all = watch(*source, 15,
                    [&] { return source->live_status().reason == "its HLS playlist lists no new segments"; });
  EXPECT_EQ(source->live_status().reason, "its HLS playlist lists no new segments");
  EXPECT_EQ(std::set(all.stamps.begin(), all.stamps.end()).size(), all.stamps.size())
      << "a picture came twice";
  live_.stopped_at = 10;
  all = watch(*source, 10, [&] { return source->live_status().state == LiveState::playing; });
  const Watch next = watch(*source, 2);
  ASSERT_FALSE(next.stamps.empty());
  EXPECT_GT(next.stamps.back(), 8 * kHlsSecond);
}

TEST_F(HlsLiveTest, AStreamThatEndsPlaysToItsEnd) {
  const auto source = open_source(server_.url(), hls_options());
  live_.stopped_at = 7, live_.ended = true;
  const Watch all =
      watch(*source, 15, [&] { return source->live_status().reason == "the stream has ended"; });
  EXPECT_EQ(source->live_status().reason, "the stream has ended");
  EXPECT_GE(all.pictures, 4 * kClipFps);
  const int64_t first = all.stamps.front();
  EXPECT_EQ(all.stamps.back() - first, static_cast<int64_t>(all.stamps.size() - 1) * kHlsSecond / kClipFps);
  EXPECT_EQ(watch(*source, 1).pictures, 0) << "played again";
}

TEST_F(HlsLiveTest, AnotherCodecContinuesWhereItBegins) {
  live_.other_codec_from = 6;
  const auto source = open_source(server_.url(), hls_options());
  Watch all = watch(*source, 15, [&] { return source->live_status().reconnects > 0; });
  EXPECT_EQ(source->live_status().reconnects, 1u);
  const Watch next = watch(*source, 1.5);
  all.stamps.insert(all.stamps.end(), next.stamps.begin(), next.stamps.end());
  ASSERT_GT(all.stamps.size(), size_t{4 * kClipFps});
  int64_t longest = 0;
  for (size_t i = 1; i < all.stamps.size(); ++i)
    longest = std::max(longest, all.stamps[i] - all.stamps[i - 1]);
  EXPECT_LE(to_s(longest), 0.2) << "pictures are missing";
  EXPECT_EQ(std::set(all.stamps.begin(), all.stamps.end()).size(), all.stamps.size());
}

TEST_F(HlsLiveTest, ClosingDoesNotWaitForASegment) {
  std::atomic<bool> hangs{false};
  HlsServer server([&](const std::string& path) { return hangs ? "?" : live_(path); });
  auto source = open_source(server.url(), hls_options());
  hangs = true;
  watch(*source, 1.5);
  const int64_t begin = now_ns();
  source.reset();
  EXPECT_LT(to_s(now_ns() - begin), 0.5);
}

}  // namespace
}  // namespace lensd::test
