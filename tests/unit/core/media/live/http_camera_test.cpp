// A network camera on 127.0.0.1: Motion JPEG over HTTP, and logins that it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/image/image.hpp"
#include "core/media/source.hpp"
#include "core/media/still.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

/// Answers every request with `status` or, if it is 200, with pictures at an interval of `interval_ms`.
class HttpCamera {
 public:
  HttpCamera(int status, int interval_ms) : status_(status), interval_ms_(interval_ms) {}
  ~HttpCamera() { server_.end(); }
  HttpCamera(const HttpCamera&) = delete;
  HttpCamera& operator=(const HttpCamera&) = delete;

  std::string url(const std::string& login = "") const {
    return fmt::format("http://{}127.0.0.1:{}/video.mjpg", login, server_.port());
  }
  std::atomic<int> logins{0}, requests{0};

 private:
  void answer(int client, const std::string& request) {
    ++requests;
    if (request.find("Authorization:") != std::string::npos) ++logins;
    if (status_ == 200) return play(client);
    LocalHttpServer::put(client, fmt::format("HTTP/1.1 {} No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
                                             "Content-Length: 0\r\nConnection: close\r\n\r\n",
                                             status_));
  }
  void play(int client) const {
    StillEncoder encoder(StillEncoder::Type::jpeg);
    Image image({PixelFormat::rgba8, {64, 48}});
    bool open = LocalHttpServer::put(
        client, "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=xx\r\n\r\n");
    auto due = std::chrono::steady_clock::now();
    for (int i = 0; open && !server_.ended(); ++i) {
      image.at(i % 64, 0, 0) = 255;
      const auto jpeg = encoder.encode(image.ref());
      open = LocalHttpServer::put(
          client, fmt::format("--xx\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n",
                              jpeg.size(), std::string(jpeg.begin(), jpeg.end())));
      std::this_thread::sleep_until(due += std::chrono::milliseconds(interval_ms_));
    }
  }

  const int status_, interval_ms_;
  LocalHttpServer server_{[this](int client, const std::string& request) { answer(client, request); }};
};

std::unique_ptr<Source> open_camera(const std::string& url) {
  SourceOptions options;
  options.live.placeholders = false;
  return open_source(url, options);
}

TEST(HttpCamera, MotionJpegHasTheTimesOfItsArrival) {
  const HttpCamera camera(200, 150);  // FFmpeg assumes 25 pictures per second
  const auto source = open_camera(camera.url());
  constexpr int kProbed = 8;  // the first pictures, which FFmpeg reads before the first is decoded
  int64_t first_pts = -1, pts = 0, first_ns = 0;
  for (int count = 0; count < kProbed + 10;) {
    Picture picture;
    if (source->next(picture) != FrameOutcome::ok) continue;
    pts = picture.info.pts_ns;
    if (count++ == kProbed) first_pts = pts, first_ns = now_ns();
    EXPECT_EQ(picture.info.duration_ns, 0) << "unknown";
  }
  const int64_t elapsed = now_ns() - first_ns;
  EXPECT_GT(elapsed, 1 * sec);
  EXPECT_NEAR(static_cast<double>(pts - first_pts), static_cast<double>(elapsed), 0.3e9);
  EXPECT_EQ(source->live_status().nominal_rate, 0);
}

TEST(HttpCamera, TheCaseOfTheProtocolIsIgnored) {
  const HttpCamera camera(200, 20);
  std::string url = camera.url();
  url.replace(0, 4, "HTTP");
  const auto source = open_camera(url);
  Picture picture;
  EXPECT_TRUE(eventually([&] { return source->next(picture) == FrameOutcome::ok; }))
      << source->live_status().reason;
}

TEST(HttpCamera, AWrongPasswordIsNotRepeatedAtOnce) {
  const HttpCamera camera(401, 0);
  const auto source = open_camera(camera.url("admin:wrong@"));
  EXPECT_TRUE(eventually([&] { return camera.logins > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // five usual retries
  EXPECT_EQ(camera.logins, 1);
  EXPECT_EQ(source->live_status().reason, "wrong user name or password; next attempt in 5 s");
}

TEST(HttpCamera, OtherRefusalsAreNamed) {
  const HttpCamera closed(401, 0), forbidden(403, 0);
  const auto without_login = open_camera(closed.url());
  EXPECT_TRUE(eventually([&] {
    return without_login->live_status().reason ==
           "a user name and a password are needed; next attempt in 5 s";
  })) << without_login->live_status().reason;
  const auto refused = open_camera(forbidden.url("admin:right@"));
  EXPECT_TRUE(eventually([&] {
    return refused->live_status().reason == "the server refuses access; next attempt in 5 s";
  })) << refused->live_status().reason;
  SourceOptions batch;
  batch.live.must_open = true;
  try {
    open_source(closed.url("admin:wrong@"), batch);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "wrong user name or password") << "no attempt follows";
  }
}

TEST(HttpCamera, APictureWithoutAnEndIsGivenUp) {
  std::atomic<int64_t> sent{0};
  std::atomic<int> requests{0};
  LocalHttpServer server([&](int client, const std::string&) {
    ++requests;
    StillEncoder encoder(StillEncoder::Type::jpeg);
    const auto jpeg = encoder.encode(Image({PixelFormat::rgba8, {64, 48}}).ref());
    const std::string part =
        "--xx\r\nContent-Type: image/jpeg\r\n\r\n" + std::string(jpeg.begin(), jpeg.end()) + "\r\n";
    bool open = LocalHttpServer::put(
        client, "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=xx\r\n\r\n");
    for (int i = 0; open && i < 12; ++i) open = LocalHttpServer::put(client, part);
    open = open && LocalHttpServer::put(client, part.substr(0, part.size() / 2));
    for (const std::string more(1 << 20, '\1'); open && requests == 1 && sent < 1'000'000'000;)
      if ((open = LocalHttpServer::put(client, more))) sent += static_cast<int64_t>(more.size());
  });
  SourceOptions options;
  options.live.placeholders = false;
  options.live.silence_ns = 30 * sec, options.live.silence_given = true;
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/video.mjpg", server.port()), options);
  EXPECT_TRUE(eventually([&] {
    return source->live_status().reason == "the server sends too much data for one picture";
  })) << source->live_status().reason;
  EXPECT_TRUE(eventually([&] { return requests > 1; })) << "does not connect again";
  EXPECT_GT(sent, 60'000'000);
  EXPECT_LT(sent, 100'000'000);
  server.end();
}

TEST(HttpPlaylist, DashIsNamed) {
  LocalHttpServer server([](int client, const std::string&) {
    const std::string playlist =
        "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" "
        "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\"><Period></Period></MPD>\n";
    LocalHttpServer::put(client, fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/dash+xml\r\n"
                                             "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                                             playlist.size(), playlist));
  });
  SourceOptions batch;
  batch.live.must_open = true;
  try {
    open_source(fmt::format("http://127.0.0.1:{}/live.mpd", server.port()), batch);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_TRUE(error.problem().starts_with("this is a DASH playlist")) << error.problem();
  }
}

}  // namespace
}  // namespace lensd
