// HLS playlists from a server: complete ones play as files. What they list is checked.
extern "C" {
#include <libavutil/aes.h>
}

#include <atomic>
#include <chrono>
#include <thread>

#include "core/media/input/input.hpp"
#include "tests/unit/core/media/hls_fixture.hpp"

namespace lensd::test {
namespace {

using namespace std::chrono_literals;
class HlsInputTest : public MediaTest {};

TEST_F(HlsInputTest, ACompletePlaylistPlaysWholeAndSeeksExactly) {
  const HlsFile content;
  HlsServer server(content);
  put("whole.ts", content.whole());
  const Decoded expected = read_all(*open_source(file("whole.ts"), {}));
  ASSERT_EQ(expected.infos.size(), size_t{HlsFile::kSegments * kClipFps});
  const auto source = open_source(server.url(), hls_options());
  const SourceInfo& info = source->info();
  EXPECT_FALSE(info.live);
  EXPECT_TRUE(info.seekable);
  EXPECT_TRUE(info.has_audio);
  EXPECT_NEAR(to_s(info.duration_ns), HlsFile::kSegments, 0.1);
  const Decoded whole = read_all(*source);
  EXPECT_EQ(whole.digests, expected.digests);
  EXPECT_EQ(source->stream_errors(), "");
  for (const size_t n : {0u, 130u, 24u, 25u, 26u, 249u, 1u, 174u}) {
    source->seek(whole.infos[n].pts_ns);
    const Decoded after = read_all(*source, 3);
    ASSERT_FALSE(after.infos.empty()) << n;
    for (size_t i = 0; i < after.infos.size(); ++i) {
      EXPECT_EQ(after.infos[i].pts_ns, whole.infos[n + i].pts_ns) << n;
      EXPECT_EQ(after.digests[i], whole.digests[n + i]) << n;
    }
  }
}

TEST_F(HlsInputTest, TheTypeAndNameOfAPlaylistDoNotMatter) {
  const HlsFile content;
  HlsServer server([&](const std::string& path) {
    return path == "/stream?id=1" ? hls_list(0, 2, true, "part/") : content(path);
  });
  EXPECT_EQ(read_all(*open_source(server.url("/stream?id=1"), hls_options())).infos.size(),
            size_t{2 * kClipFps});
}

TEST_F(HlsInputTest, TheSoundIsReadFromTheSameAddress) {
  HlsServer server{HlsFile()};
  StopFlags stop;
  Input input(server.url(), StreamKind::audio, stop);
  EXPECT_TRUE(input.repeatable());
  const ff::PacketPtr packet = ff::make_packet();
  int64_t first = AV_NOPTS_VALUE, last = 0;
  while (input.read(*packet) >= 0) {
    if (first == AV_NOPTS_VALUE) first = packet->pts;
    last = packet->pts;
  }
  EXPECT_NEAR(to_s(ff::to_ns(last - first, input.stream()->time_base)), HlsFile::kSegments, 0.1);
}

TEST_F(HlsInputTest, TheLargestVariantIsPlayedAndNoOtherIsLoaded) {
  const HlsFile content;
  HlsServer server([&](const std::string& path) -> std::string {
    if (path != "/live.m3u8") return content(path);
    return "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100,RESOLUTION=64x48\nlow/a.m3u8\n"
           "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=128x96,CODECS=\"avc1.4d,mp4a.40.2\"\nhigh/a.m3u8\n"
           "#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS=\"mp4a.40.2\"\nsound/a.m3u8\n";
  });
  const auto source = open_source(server.url(), hls_options());
  EXPECT_EQ(source->info().video_tracks,
            (std::vector<std::string>{"64×48, 0.0001 Mbit/s", "128×96, 0.9 Mbit/s"}));
  EXPECT_EQ(source->info().video_track, 2);
  EXPECT_EQ(read_all(*source).infos.size(), size_t{HlsFile::kSegments * kClipFps});
  EXPECT_EQ(server.requests("/high/a.m3u8"), 1);
  EXPECT_EQ(server.requests("/low/a.m3u8") + server.requests("/sound/a.m3u8"), 0);
  SourceOptions first = hls_options();
  first.video_track = 1;
  EXPECT_EQ(open_source(server.url(), first)->info().video_track, 1);
  EXPECT_EQ(server.requests("/low/a.m3u8"), 1);
  first.video_track = 3;
  EXPECT_EQ(refusal(server.url(), first).problem(), "it has no video track 3, the last one is 2");
  StopFlags stop;
  const Input sound(server.url(), StreamKind::audio, stop);
  EXPECT_EQ(server.requests("/low/a.m3u8"), 2) << "all variants have the same sound";
}

TEST_F(HlsInputTest, ASlowServerDoesNotTurnAFileIntoALiveSource) {
  const HlsFile content;
  HlsServer server([&](const std::string& path) {
    if (path == "/0.ts") std::this_thread::sleep_for(1500ms);  // LiveSource waits a second for a live source
    return content(path);
  });
  SourceOptions options = hls_options();
  options.live.must_open = false;
  const auto source = open_source(server.url(), options);
  EXPECT_TRUE(source->info().seekable);
  EXPECT_FALSE(source->info().live);
}

/// Returns `plain` as AES-128 segment `number` without an IV in the playlist.
std::string encrypted(std::string plain, const std::string& key, uint8_t number) {
  const size_t padding = 16 - plain.size() % 16;
  plain.append(padding, static_cast<char>(padding));
  std::string out(plain.size(), '\0');
  uint8_t iv[16] = {};
  iv[15] = number;
  AVAES* aes = av_aes_alloc();
  av_aes_init(aes, reinterpret_cast<const uint8_t*>(key.data()), 128, 0);
  av_aes_crypt(aes, reinterpret_cast<uint8_t*>(out.data()), reinterpret_cast<const uint8_t*>(plain.data()),
               static_cast<int>(plain.size() / 16), iv, 0);
  av_free(aes);
  return out;
}

TEST_F(HlsInputTest, EncryptedSegmentsNeedTheirKey) {
  const HlsFile content;
  const std::string key = "0123456789abcdef";
  std::atomic<bool> has_key{true};
  HlsServer server([&](const std::string& path) -> std::string {
    if (path == "/key") return has_key ? key : "";
    if (path != "/live.m3u8") return encrypted(content(path), key, static_cast<uint8_t>(path[1] - '0'));
    std::string list = hls_list(0, 4, true);
    return list.insert(list.find("#EXTINF"), "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n");
  });
  const auto source = open_source(server.url(), hls_options());
  EXPECT_EQ(read_all(*source).infos.size(), size_t{4 * kClipFps});
  source->seek(2'000'000'000);
  EXPECT_EQ(read_all(*source, 1).infos.front().pts_ns, 2'000'000'000);
  has_key = false;
  EXPECT_EQ(refusal(server.url(), hls_options()).problem(),
            "cannot load the key of its HLS playlist: server returned 404 Not Found");
}

/// Expects that a playlist is refused for `reason`, and that nothing but the server is contacted.
void expect_refused(const std::string& playlist, const std::string& reason) {
  const Listener other("127.0.0.2");
  std::string text = playlist;
  for (size_t at = 0; (at = text.find("OTHER", at)) != std::string::npos;)
    text.replace(at, 5, fmt::format("127.0.0.2:{}", other.port()));
  const HlsFile content;
  HlsServer server([&](const std::string& path) { return path == "/live.m3u8" ? text : content(path); });
  const int64_t begin = now_ns();
  const Error error = refusal(server.url(), hls_options());
  EXPECT_EQ(error.code(), ExitCode::bad_source);
  EXPECT_NE(error.problem().find(reason), std::string::npos) << playlist << ": " << error.problem();
  EXPECT_FALSE(other.contacted(50)) << playlist;
  EXPECT_LT(to_s(now_ns() - begin), 5) << playlist;
}

TEST_F(HlsInputTest, AddressesThatAreNotAllowedAreNotOpened) {
  const std::string begin = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n", end = "\n#EXT-X-ENDLIST\n";
  for (const char* address : {"file:///etc/passwd", "FILE:///etc/passwd", "concat:a.ts|b.ts",
                              "data:text/plain,x", "crypto:file:///etc/passwd", "rtmp://127.0.0.1/x",
                              "http:///x.ts", "subfile,,start,0,end,9,,:/etc/passwd"})
    expect_refused(begin + "#EXTINF:1,\n" + address + end,
                   address[0] == 's' ? "cannot load its HLS stream" : "not an http or https address");
  const std::string internal = "an internal or unknown host";
  expect_refused(begin + "#EXTINF:1,\nhttp://OTHER/0.ts" + end, internal);
  expect_refused(begin + "#EXTINF:1,\n//OTHER/0.ts" + end, internal);
  expect_refused(begin + "#EXTINF:1,\nhttp://localhost:9/0.ts" + end, internal);
  expect_refused(begin + "#EXTINF:1,\nhttp://169.254.169.254/latest" + end, internal);
  expect_refused(begin + "#EXT-X-KEY:METHOD=AES-128,URI=\"http://OTHER/key\"\n#EXTINF:1,\n0.ts" + end,
                 internal);
  expect_refused(begin + "#EXT-X-KEY:METHOD=AES-128,URI=\"file:///etc/passwd\"\n#EXTINF:1,\n0.ts" + end,
                 "not an http or https address");
  expect_refused(begin + "#EXT-X-MAP:URI=\"http://OTHER/init.mp4\"\n#EXTINF:1,\n0.ts" + end, internal);
  expect_refused("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://OTHER/a.m3u8\n", internal);
  expect_refused(
      begin +
          "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
          "#EXTINF:1,\n0.ts" +
          end,
      "is protected by DRM");
  expect_refused("#EXTM3U\n", "lists no segments");
}

TEST_F(HlsInputTest, RedirectionsToInternalAddressesAreNotFollowed) {
  const Listener other("127.0.0.2");
  const std::string target = fmt::format(">http://127.0.0.2:{}/0.ts", other.port());
  for (const char* redirected : {"/0.ts", "/live.m3u8"}) {
    HlsServer server([&](const std::string& path) {
      return path == redirected ? target : path == "/live.m3u8" ? hls_list(0, 1, true) : "";
    });
    const Error error = refusal(server.url(), hls_options());
    EXPECT_NE(error.problem().find("internal address 127.0.0.2"), std::string::npos) << error.problem();
  }
  EXPECT_FALSE(other.contacted(50));
}

TEST_F(HlsInputTest, OptionsAndLoginsStayWithTheirHost) {
  const HlsFile content;
  HlsServer other(content);
  std::atomic<HlsServer*> self{nullptr};
  HlsServer server([&](const std::string& path) -> std::string {
    if (path == "/2.ts") return content(path);
    if (self && self.load()->head(path).find("Authorization") == std::string::npos) return "login";
    return path == "/live.m3u8"
               ? hls_list(0, 1, false) + fmt::format("#EXTINF:1,\nhttp://127.0.0.1:{}/1.ts\n", other.port()) +
                     fmt::format("#EXTINF:1,\n{}\n#EXT-X-ENDLIST\n", self.load()->url("/2.ts"))
               : content(path);
  });
  self = &server;
  SourceOptions options = hls_options();
  options.live.extra = {{"headers", "X-Token: secret"}, {"user_agent", "lens"}};
  EXPECT_EQ(read_all(*open_source(server.url("/live.m3u8", "joe:pass@"), options)).infos.size(),
            size_t{3 * kClipFps});
  for (const char* path : {"/live.m3u8", "/0.ts", "/2.ts"}) {
    EXPECT_NE(server.head(path).find("X-Token: secret"), std::string::npos) << path;
    if (path == std::string("/2.ts")) continue;  // listed without the login
    EXPECT_NE(server.head(path).find("Authorization: Basic"), std::string::npos) << path;
  }
  const std::string foreign = other.head("/1.ts");
  EXPECT_NE(foreign.find("User-Agent: lens"), std::string::npos) << foreign;
  EXPECT_EQ(foreign.find("X-Token"), std::string::npos) << foreign;
  EXPECT_EQ(foreign.find("Authorization"), std::string::npos) << foreign;
}

TEST_F(HlsInputTest, AnEndlessPlaylistEnds) {
  for (const bool slow : {false, true}) {
    LocalHttpServer server([&](int client, const std::string&) {
      bool open = LocalHttpServer::put(client, "HTTP/1.1 200 OK\r\n\r\n#EXTM3U\n");
      std::string part;
      for (int i = 0; i < (slow ? 1 : 1000); ++i) part += "#EXTINF:1,\n0.ts\n";
      while (open && !server.ended()) {
        open = LocalHttpServer::put(client, part);
        if (slow) std::this_thread::sleep_for(10ms);
      }
    });
    SourceOptions options = hls_options();
    options.live.open_ns = slow ? 1'000'000'000 : 20'000'000'000;
    const int64_t begin = now_ns();
    const Error error = refusal(fmt::format("http://127.0.0.1:{}/a.m3u8", server.port()), options);
    EXPECT_EQ(error.problem(),
              slow ? "no answer before the open timeout" : "its HLS playlist is larger than 8 MiB");
    EXPECT_LT(to_s(now_ns() - begin), slow ? 4 : 20);
  }
}

TEST_F(HlsInputTest, CancellingDoesNotWaitForASegment) {
  const HlsFile content;
  for (const char* hangs : {"/0.ts", "/live.m3u8", "/3.ts"}) {
    HlsServer server([&](const std::string& path) { return path == hangs ? "?" : content(path); });
    std::atomic<bool> cancel{false};
    SourceOptions options = hls_options();
    options.cancel = &cancel;
    int64_t cancelled = 0;
    std::thread later([&] {
      std::this_thread::sleep_for(700ms);
      cancelled = now_ns();
      cancel = true;
    });
    try {
      const auto source = open_source(server.url(), options);
      Picture picture;
      while (source->next(picture) == FrameOutcome::ok) continue;
    } catch (const Error&) {
    }
    later.join();
    EXPECT_GT(cancelled, 0);
    EXPECT_LT(to_s(now_ns() - cancelled), 1) << hangs;
  }
}

TEST_F(HlsInputTest, AFileContinuesAfterAnOutageOfItsServer) {
  const HlsFile content;
  std::atomic<int64_t> down_until{0};
  HlsServer server([&](const std::string& path) -> std::string {
    if (path == "/5.ts" && down_until == 0) down_until = now_ns() + 1'500'000'000;
    return now_ns() < down_until ? "!" : content(path);
  });
  const auto source = open_source(server.url(), hls_options());
  EXPECT_EQ(read_all(*source).infos.size(), size_t{HlsFile::kSegments * kClipFps});
  EXPECT_GE(server.requests("/5.ts"), 2);
}

TEST_F(HlsInputTest, ABusyServerIsAskedAgain) {
  const HlsFile content;
  std::map<std::string, int> asked;
  HlsServer server([&](const std::string& path) -> std::string {
    const bool later_segment = path >= "/5.ts" && path.ends_with(".ts");
    return later_segment && asked[path]++ < 2 ? "busy" : content(path);
  });
  const auto source = open_source(server.url(), hls_options());
  EXPECT_EQ(read_all(*source).infos.size(), size_t{HlsFile::kSegments * kClipFps});
  EXPECT_EQ(source->stream_errors(), "");
  EXPECT_GE(server.requests("/5.ts"), 3);
}

TEST_F(HlsInputTest, TheSoundOfABusyServerIsOpened) {
  const HlsFile content;
  std::map<std::string, int> asked;
  HlsServer server([&](const std::string& path) -> std::string {
    const bool first_ones = path == "/live.m3u8" || path == "/0.ts";
    return first_ones && asked[path]++ < 2 ? "busy" : content(path);
  });
  StopFlags stop;
  Input input(server.url(), StreamKind::audio, stop);
  EXPECT_EQ(server.requests("/live.m3u8"), 3);
  const ff::PacketPtr packet = ff::make_packet();
  ASSERT_GE(input.read(*packet), 0);
  EXPECT_EQ(server.requests("/0.ts"), 3) << "segment 0 was skipped";
}

TEST_F(HlsInputTest, ASegmentWhoseConnectionEndsIsContinued) {
  const HlsFile content;
  std::atomic<int> parts{0};
  LocalHttpServer server([&](int client, const std::string& request) {
    const std::string path = request.substr(4, request.find(' ', 4) - 4), body = content(path);
    const size_t range = request.find("Range: bytes=");
    const size_t begin = range == std::string::npos ? 0 : std::strtoul(&request[range + 13], nullptr, 10);
    const bool cut = path == "/3.ts" && parts++ == 0;
    LocalHttpServer::put(
        client, fmt::format("HTTP/1.1 206 Partial Content\r\nConnection: close\r\nAccept-Ranges: bytes\r\n"
                            "Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n{}",
                            begin, body.size() - 1, body.size(), body.size() - begin,
                            body.substr(begin, cut ? body.size() / 2 : std::string::npos)));
  });
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/live.m3u8", server.port()), hls_options());
  EXPECT_EQ(read_all(*source).infos.size(), size_t{HlsFile::kSegments * kClipFps});
  EXPECT_EQ(parts, 2);
}

TEST_F(HlsInputTest, AFileWithoutItsLastSegmentsSaysSo) {
  const HlsFile content;
  HlsServer server(
      [&](const std::string& path) { return path >= "/7.ts" && path.ends_with(".ts") ? "" : content(path); });
  const auto source = open_source(server.url(), hls_options());
  EXPECT_EQ(read_all(*source).infos.size(), size_t{7 * kClipFps});
  EXPECT_EQ(source->stream_errors(),
            "the file ends early: cannot load its HLS stream: server returned 404 Not Found");
}

TEST_F(HlsInputTest, AServerThatIgnoresByteRangesIsNamed) {
  const std::string all = HlsFile().whole();
  std::string list = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:1\n";
  size_t offset = 0;
  for (int i = 0; i < HlsFile::kSegments; ++i) {
    const size_t bytes = hls_segment(i).size();
    list += fmt::format("#EXT-X-BYTERANGE:{}@{}\n#EXTINF:1,\nall.ts\n", bytes, offset);
    offset += bytes;
  }
  HlsServer server(
      [&](const std::string& path) { return path == "/all.ts" ? all : list + "#EXT-X-ENDLIST\n"; });
  const std::string problem = "its HLS playlist uses byte ranges, which the server ignores";
  try {
    const auto source = open_source(server.url(), hls_options());
    EXPECT_EQ(read_all(*source).infos.size(), size_t{kClipFps});
    EXPECT_EQ(source->stream_errors(), "the file ends early: " + problem);
  } catch (const Error& error) {  // FFmpeg 7 opens the second segment before the first picture
    EXPECT_EQ(error.problem(), problem);
  }
  EXPECT_LE(server.requests("/all.ts"), 4) << "not repeated";
}

TEST_F(HlsInputTest, OtherStreamsAreReadAsBefore) {
  const HlsFile content;
  HlsServer server([&](const std::string&) { return content.whole(); });
  EXPECT_EQ(read_all(*open_source(server.url("/whole.ts"), hls_options()), 100).infos.size(), 100u);
}

}  // namespace
}  // namespace lensd::test
