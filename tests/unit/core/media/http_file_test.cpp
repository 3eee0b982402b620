// Video files on HTTP servers: without byte ranges, and with connections that end early.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/clock.hpp"
#include "core/media/input/input.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/core/media/joined_clip.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

SourceOptions must_open() {
  SourceOptions options;
  options.live.must_open = true;
  options.live.placeholders = false;
  return options;
}

/// Sends a file from its start, whatever the request asks for.
class WholeFileServer {
 public:
  WholeFileServer(std::string content, bool with_size)
      : content_(std::move(content)), with_size_(with_size) {}
  ~WholeFileServer() { server_.end(); }
  WholeFileServer(const WholeFileServer&) = delete;
  WholeFileServer& operator=(const WholeFileServer&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}/a", server_.port()); }
  int requests() const { return requests_; }

 private:
  const std::string content_;
  const bool with_size_;
  std::atomic<int> requests_{0};
  LocalHttpServer server_{[this](int client, const std::string&) {
    ++requests_;
    const std::string size = with_size_ ? fmt::format("Content-Length: {}\r\n", content_.size()) : "";
    LocalHttpServer::put(client, "HTTP/1.1 200 OK\r\nConnection: close\r\n" + size + "\r\n" + content_);
  }};
};

/// Returns the offset that a request asks for.
size_t offset_in(const std::string& request) {
  const size_t range = request.find("Range: bytes=");
  return range == std::string::npos ? 0 : std::strtoul(&request[range + 13], nullptr, 10);
}

/// Sends `content` from the offset that the request asks for.
void put_from_offset(int client, const std::string& content, const std::string& request) {
  const size_t begin = offset_in(request);
  LocalHttpServer::put(
      client,
      fmt::format("HTTP/1.1 206 Partial Content\r\nConnection: close\r\nAccept-Ranges: bytes\r\n"
                  "Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n{}",
                  begin, content.size() - 1, content.size(), content.size() - begin, content.substr(begin)));
}

class HttpFileTest : public MediaTest {
 protected:
  /// Returns a file of 200 pictures.
  std::string matroska() {
    record(file("a.mkv"), {PixelFormat::rgba8, {64, 48}}, 200);
    return get("a.mkv");
  }
};

TEST_F(HttpFileTest, WithoutByteRangesItPlaysOnceAndWhole) {
  const struct {
    std::string name, content;
    bool with_size;
    size_t frames;
  } cases[] = {{"mpegts", mpeg_clip("mpegts", {}), true, size_t{4 * kClipFps}},
               {"matroska", matroska(), true, 200},
               {"matroska without a size", matroska(), false, 200}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const WholeFileServer server(one.content, one.with_size);
    const auto source = open_source(server.url(), must_open());
    EXPECT_FALSE(source->info().live);
    EXPECT_FALSE(source->info().seekable);
    EXPECT_TRUE(source->info().reopenable);
    EXPECT_EQ(read_all(*source).infos.size(), one.frames);
    EXPECT_EQ(source->stream_errors(), "");
    EXPECT_EQ(server.requests(), 1);
  }
}

TEST_F(HttpFileTest, AFileThatArrivesSlowlyIsNoLiveStream) {
  const std::string content = matroska();
  LocalHttpServer server([&](int client, const std::string&) {
    constexpr size_t kFirst = 100;
    LocalHttpServer::put(client,
                         fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                                     content.size(), content.substr(0, kFirst)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // longer than the wait for live sources
    LocalHttpServer::put(client, content.substr(kFirst));
  });
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/a.mkv", server.port()), {});
  EXPECT_FALSE(source->info().live);
  EXPECT_EQ(read_all(*source).infos.size(), 200u);
}

TEST_F(HttpFileTest, AStreamWithoutSizeAndDurationIsLive) {
  const WholeFileServer server(mpeg_clip("mpegts", {}), false);
  EXPECT_TRUE(open_source(server.url(), must_open())->info().live);
}

TEST_F(HttpFileTest, AnMp4ThatNeedsByteRangesIsRefused) {
  const std::string content = mpeg_clip("mp4", {});
  ASSERT_GT(content.find("moov"), content.find("mdat"));
  const WholeFileServer server(content, true);
  try {
    open_source(server.url(), must_open());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("the index of this MP4 is at its end"), std::string::npos)
        << error.problem();
  }
}

TEST_F(HttpFileTest, AConnectionThatEndsEarlyIsContinued) {
  const std::string content = matroska();
  std::atomic<int> cuts{0};
  LocalHttpServer server([&](int client, const std::string& request) {
    const size_t begin = offset_in(request), most = content.size() / 4;
    const bool cut = content.size() - begin > most;
    cuts += cut;
    LocalHttpServer::put(
        client, fmt::format("HTTP/1.1 206 Partial Content\r\nConnection: close\r\nAccept-Ranges: bytes\r\n"
                            "Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n{}",
                            begin, content.size() - 1, content.size(), content.size() - begin,
                            content.substr(begin, cut ? most : std::string::npos)));
  });
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/a.mkv", server.port()), must_open());
  EXPECT_TRUE(source->info().seekable);
  EXPECT_EQ(read_all(*source).infos.size(), 200u);
  EXPECT_EQ(source->stream_errors(), "");
  EXPECT_GE(cuts, 3);
}

TEST_F(HttpFileTest, ASeekWaitsForAServerThatDoesNotAnswer) {
  const std::string content = matroska();
  std::atomic<bool> down{false};
  std::atomic<int64_t> up_ns{0};  // half a second after the first request while `down`
  std::atomic<int> refused{0};
  LocalHttpServer server([&](int client, const std::string& request) {
    int64_t none = 0;
    if (down && (up_ns.compare_exchange_strong(none, now_ns() + 500'000'000) || now_ns() < up_ns)) {
      ++refused;
      return;
    }
    put_from_offset(client, content, request);
  });
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/a.mkv", server.port()), must_open());
  EXPECT_EQ(read_all(*source).infos.size(), 200u);
  down = true;
  source->seek(1'000'000'000);
  EXPECT_EQ(read_all(*source).infos.size(), 175u);
  EXPECT_EQ(source->stream_errors(), "");
  EXPECT_GT(refused, 0);
}

/// The server redirects to its own address under another name, so ConnectPolicy allows the connection.
TEST_F(HttpFileTest, ARedirectionToAnotherInternalNameIsRefused) {
  const std::string content = matroska();
  const auto problem_after = [&](const char* name) -> std::string {
    LocalHttpServer server([&](int client, const std::string& request) {
      std::string head = "302 Found\r\nContent-Length: 0\r\nLocation: ", body;
      if (request.starts_with("GET /a "))
        head += fmt::format("http://{}:{}/b", name, server.port());
      else
        head = fmt::format("200 OK\r\nContent-Length: {}", content.size()), body = content;
      LocalHttpServer::put(client, "HTTP/1.1 " + head + "\r\nConnection: close\r\n\r\n" + body);
    });
    StopFlags stop;
    try {
      const Input input(fmt::format("http://127.0.0.1:{}/a", server.port()), StreamKind::video, stop);
    } catch (const Error& error) {
      return error.problem();
    }
    return {};
  };
  EXPECT_EQ(problem_after("127.0.0.1"), "");
  const std::string problem = problem_after("localhost");
  EXPECT_NE(problem.find("redirects to the internal address localhost"), std::string::npos) << problem;
}

}  // namespace
}  // namespace lensd::test
