// The text of HLS playlists, and when packets are due.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/hls/packet_pace.hpp"
#include "core/media/hls/playlist.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd::hls {
namespace {

constexpr const char* kBase = "https://host:8443/a/b/live.m3u8?token=x";

std::string problem_of(const std::string& text) {
  try {
    parse(text, kBase);
  } catch (const Error& error) {
    return error.problem();
  }
  return {};
}

TEST(HlsPlaylist, ResolvesAddresses) {
  const std::pair<const char*, const char*> cases[] = {
      {"0.ts", "https://host:8443/a/b/0.ts"},
      {"0.ts?x=../1", "https://host:8443/a/b/0.ts?x=../1"},
      {"./c/../0.ts", "https://host:8443/a/b/0.ts"},
      {"../../../0.ts", "https://host:8443/0.ts"},
      {"/0.ts", "https://host:8443/0.ts"},
      {"//other/0.ts", "https://other/0.ts"},
      {"HTTP://other/0.ts", "http://other/0.ts"},
      {"?y", "https://host:8443/a/b/live.m3u8?y"},
      {"a b\".ts", "https://host:8443/a/b/a%20b%22.ts"},
      {"12:30.ts", "https://host:8443/a/b/12:30.ts"},
      {"..", "https://host:8443/a/"},
  };
  for (const auto& [reference, address] : cases) EXPECT_EQ(resolve(kBase, reference), address) << reference;
  EXPECT_EQ(resolve("http://host", "0.ts"), "http://host/0.ts");
  EXPECT_EQ(resolve("http://joe:p@host/a?b", "0.ts"), "http://joe:p@host/0.ts");
  for (const char* refused :
       {"file:///x", "http:x", "http://", "http:///x", "c:\\x.ts", "data:,x", "a\tb.ts"})
    EXPECT_THROW(resolve(kBase, refused), Error) << refused;
  EXPECT_THROW(resolve(kBase, std::string(5000, 'a')), Error);
}

TEST(HlsPlaylist, NumbersMayFollowABlank) {
  const Playlist list = parse(
      "#EXTM3U\n#EXT-X-TARGETDURATION: 6\n#EXT-X-MEDIA-SEQUENCE: 41\n#EXTINF: 5.5,\n"
      "#EXT-X-BYTERANGE: 100@ 800\nall.ts\n",
      kBase);
  EXPECT_EQ(list.target_s, 6);
  EXPECT_EQ(list.sequence, 41) << "reloads would never bring a new segment";
  ASSERT_EQ(list.segments.size(), 1u);
  EXPECT_EQ(list.segments[0].duration_s, 5.5);
  EXPECT_EQ(list.segments[0].range, (Range{800, 100}));
}

TEST(HlsPlaylist, AMediaPlaylistIsRewritten) {
  const Playlist list = parse(
      "#EXTM3U\r\n#EXT-X-VERSION:7\r\n#EXT-X-TARGETDURATION:4\r\n#EXT-X-MEDIA-SEQUENCE:7\r\n"
      "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"800@0\"\r\n"
      "#EXTINF:3.5,a title\r\n#EXT-X-BYTERANGE:100@800\r\nall.mp4\r\n"
      "#EXTINF:4,\r\n#EXT-X-BYTERANGE:50\r\nall.mp4\r\n"
      "#EXT-X-DISCONTINUITY\r\n#EXT-X-KEY:METHOD=AES-128,IV=0x0F,URI=\"k,1\"\r\n"
      "#EXTINF:2,\r\nlast.mp4\r\n#EXT-X-KEY:METHOD=NONE\r\n#EXTINF:2,\r\nplain.mp4\r\n#EXT-X-ENDLIST\r\n",
      kBase);
  EXPECT_FALSE(list.master);
  EXPECT_TRUE(list.finished);
  EXPECT_EQ(list.sequence, 7);
  EXPECT_EQ(list.end(), 11);
  EXPECT_EQ(media_text(list, 1, {}),
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:8\n"
            "#EXT-X-MAP:URI=\"https://host:8443/a/b/init.mp4\",BYTERANGE=\"800@0\"\n"
            "#EXTINF:4.000000,\n#EXT-X-BYTERANGE:50@900\nhttps://host:8443/a/b/all.mp4\n"
            "#EXT-X-KEY:METHOD=AES-128,URI=\"https://host:8443/a/b/k,1\",IV=0x0F\n"
            "#EXTINF:2.000000,\nhttps://host:8443/a/b/last.mp4\n"
            "#EXT-X-KEY:METHOD=NONE\n#EXTINF:2.000000,\nhttps://host:8443/a/b/plain.mp4\n#EXT-X-ENDLIST\n");
  EXPECT_EQ(media_text(list, 1, list.maps.back()).find("EXT-X-MAP"), std::string::npos)
      << "it is loaded already";
}

TEST(HlsPlaylist, LimitsAndDamage) {
  EXPECT_EQ(problem_of("#EXTM3U8\n"), "its HLS playlist is damaged");
  EXPECT_EQ(problem_of("#EXTM3U\n" + std::string(kMaxPlaylistBytes, '\n')),
            "its HLS playlist is larger than 8 MiB");
  std::string many = "#EXTM3U\n";
  for (size_t i = 0; i <= kMaxSegments; ++i) many += "#EXTINF:1,\na\n";
  EXPECT_EQ(problem_of(many), "its HLS playlist lists more than 100000 segments");
  std::string large = "#EXTM3U\n";
  for (int i = 0; i < 12'000; ++i) large += "#EXTINF:1,\n/" + std::string(400, 'a') + "\n";
  EXPECT_EQ(problem_of(large), "");
  std::string keyed = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"" + std::string(3000, 'k') + "\"\n";
  for (int i = 0; i < 12'000; ++i) keyed += "#EXTINF:1,\na\n";
  EXPECT_EQ(problem_of(keyed), "its HLS playlist lists too many addresses");
  EXPECT_EQ(problem_of("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:9000000000000000000\n"),
            "its HLS playlist has an invalid sequence number");
  for (const char* range : {"-1", "x", "1@-1", "1@x", "99999999999999999", "1@99999999999999999"})
    EXPECT_EQ(problem_of(std::string("#EXTM3U\n#EXT-X-BYTERANGE:") + range + "\n"),
              "its HLS playlist has an invalid byte range")
        << range;
  EXPECT_EQ(problem_of("#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:1,\na\n"),
            "its HLS playlist is encrypted with SAMPLE-AES (lensd plays AES-128)");
  EXPECT_EQ(problem_of("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128\n"),
            "its HLS playlist has a key or an initialization section without an address");
  const Playlist odd = parse(
      "#EXTM3U\n#EXT-X-TARGETDURATION:0\n#EXTINF:nan,\na\n#EXTINF:-5,\nb\n#EXTINF:1e300,\nc\nd\n", kBase);
  EXPECT_EQ(odd.segments.size(), 3u);
  EXPECT_EQ(odd.target_s, 3600);
}

TEST(HlsPlaylist, TheLargestVariantIsChosen) {
  const Playlist list = parse(
      "#EXTM3U\n"
      "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"A\",LANGUAGE=\"de\",URI=\"a.m3u8\"\n"
      "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"B\",DEFAULT=YES,URI=\"b.m3u8\"\n"
      "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"S\",URI=\"s.m3u8\"\n"
      "#EXT-X-STREAM-INF:BANDWIDTH=9,CODECS=\"mp4a.40.2\"\nsound\n"
      "#EXT-X-STREAM-INF:BANDWIDTH=500,RESOLUTION=640x360,AUDIO=\"g\"\nsmall\n"
      "#EXT-X-STREAM-INF:BANDWIDTH=700,RESOLUTION=1920x1080,AUDIO=\"g\"\nlow\n"
      "#EXT-X-STREAM-INF:BANDWIDTH=900,RESOLUTION=1920x1080,AUDIO=\"g\"\nhigh\n"
      "#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=3840x2160,CODECS=\"dvh1.05\"\ndolby\n"
      "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i.m3u8\"\n",
      kBase);
  EXPECT_TRUE(list.master);
  EXPECT_EQ(video_tracks(list), 4);
  const std::string folder = "https://host:8443/a/b/";
  const Choice best = choose_video(list, 0, 0);
  EXPECT_EQ(best.video, folder + "high");
  EXPECT_EQ(best.audio, folder + "b.m3u8");
  EXPECT_EQ(best.video_track, 3);
  EXPECT_EQ(choose_video(list, 1, 1).video, folder + "small");
  EXPECT_EQ(choose_video(list, 1, 1).audio, folder + "a.m3u8");
  EXPECT_TRUE(best.rendition);
  EXPECT_EQ(choose_audio(list, 0).video, folder + "b.m3u8");
  EXPECT_EQ(master_text(best),
            "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",DEFAULT=YES,URI=\"https://host:8443/"
            "a/b/b.m3u8\"\n"
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nhttps://host:8443/a/b/high\n");
}

TEST(PacketPace, PacketsAreDueAtTheRateOfTheirTimes) {
  PacketPace pace;
  const int64_t begin = 100 * sec;
  for (int i = 0; i < 100; ++i) {
    const int64_t place = pace.place_video(7 * sec + i * sec / 25);
    EXPECT_EQ(pace.due_ns(place, begin + place, i == 0), begin + PacketPace::kReserveNs + i * sec / 25);
    pace.delivered(place, place + 3 * sec, begin + place);
    EXPECT_EQ(pace.place_audio(7 * sec + i * sec / 25), place);
  }
}

TEST(PacketPace, TheFirstReserveMayBeLonger) {
  PacketPace pace(2 * sec);
  const int64_t first = pace.due_ns(pace.place_video(0), 10 * sec, true);
  EXPECT_EQ(first, 12 * sec);
  EXPECT_EQ(pace.due_ns(pace.place_video(sec), first + 5 * sec, true),
            first + 5 * sec + PacketPace::kReserveNs);
}

TEST(PacketPace, JumpsAreRemovedAndGapsAreKept) {
  PacketPace pace;
  EXPECT_EQ(pace.place_video(1000 * sec), 0);
  EXPECT_EQ(pace.place_video(1006 * sec), 6 * sec) << "a missing segment";
  EXPECT_EQ(pace.place_video(3 * sec), 6 * sec + sec / 25);
  EXPECT_EQ(pace.place_audio(1006 * sec), 6 * sec + sec / 25) << "audio from before the jump";
  EXPECT_EQ(pace.place_audio(4 * sec), 7 * sec + sec / 25);
  EXPECT_EQ(pace.place_video(5000 * sec), 6 * sec + 2 * sec / 25);
}

TEST(PacketPace, LatePacketsDelayTheNextOnes) {
  PacketPace pace;
  const int64_t start = pace.due_ns(pace.place_video(0), 0, true);
  const int64_t place = pace.place_video(sec);
  EXPECT_EQ(pace.due_ns(place, start + 3 * sec, false), start + sec) << "only the reader was late";
  EXPECT_EQ(pace.due_ns(place, start + sec / 2, true), start + sec) << "in time";
  EXPECT_EQ(pace.due_ns(place, start + 3 * sec, true), start + 3 * sec + PacketPace::kReserveNs);
  EXPECT_EQ(pace.due_ns(pace.place_video(2 * sec), start + 3 * sec, false),
            start + 4 * sec + PacketPace::kReserveNs);
}

TEST(PacketPace, FollowsTheClockOfTheServer) {
  for (const int sign : {1, -1}) {
    PacketPace pace;
    int64_t now = 0;
    double buffered = 10;
    for (int i = 0; i < 3600 * 4; ++i) {  // four pictures per second for an hour
      const int64_t place = pace.place_video(i * sec / 4);
      const int64_t due = pace.due_ns(place, now, i == 0);
      buffered += sign * 0.0005 / 4 - (i > 0 ? 0.25 - to_s(due - now) : 0);  // clocks differ by 500 ppm
      now = due;
      pace.delivered(place, place + static_cast<int64_t>(buffered * 1e9), now);
    }
    EXPECT_NEAR(buffered, 10, 1.5) << "without correction 1.8 s more or less";
    EXPECT_GT(std::abs(buffered - 10), 0.3);
  }
}

}  // namespace
}  // namespace lensd::hls
