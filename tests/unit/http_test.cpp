// core/control/http_server: what is only made while somebody watches, limits, who is turned away.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/http/http_access.hpp"
#include "core/control/http/http_server.hpp"
#include "tests/unit/eventually.hpp"
#include "tests/unit/fake_target.hpp"

namespace lensd {
namespace {

/// A connection that says what it is told and reads what comes.
class Caller {
 public:
  explicit Caller(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    closed_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0;
  }
  ~Caller() { close(fd_); }
  void say(const std::string& text) const { send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  void get(const std::string& path, const std::string& head = "") const {
    say("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + head + "\r\n");
  }
  /// Reads until `part` was there, the end, or ten seconds; all that was read.
  std::string until(const std::string& part) {
    for (const int64_t end = now_ns() + 10'000'000'000;
         now_ns() < end && read_.find(part) == std::string::npos;) {
      pollfd waiting{fd_, POLLIN, 0};
      if (poll(&waiting, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t size = recv(fd_, bytes, sizeof bytes, 0);
      if (size <= 0) {
        closed_ = true;
        break;
      }
      read_.append(bytes, static_cast<size_t>(size));
    }
    return read_;
  }
  bool closed() const { return closed_; }

 private:
  int fd_;
  bool closed_ = false;
  std::string read_;
};

class HttpTest : public ::testing::Test {
 protected:
  void start(HttpOptions options = {}) {
    options.auth = false, options.stream_fps = 60;
    server_ = std::make_unique<HttpServer>(target_, hub_, std::move(options));
  }
  FakeTarget target_{"canny@edges"};
  EventHub hub_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTest, NothingIsEncodedUnlessSomebodyWatches) {
  target_.picture_ns = 1;
  start();
  const auto advance = [&] {
    for (int i = 0; i < 20; ++i) {
      ++target_.picture_ns;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  advance();
  EXPECT_EQ(target_.encoded, 0);
  {
    Caller a(server_->port()), b(server_->port());
    a.get("/stream.mjpeg"), b.get("/stream.mjpeg");
    EXPECT_NE(a.until("--lensd-frame").find("multipart/x-mixed-replace"), std::string::npos);
    EXPECT_NE(b.until("--lensd-frame").find("200"), std::string::npos);
    const int before = target_.encoded;
    const int64_t frames = target_.picture_ns;
    advance();
    EXPECT_GT(target_.encoded, before);
    EXPECT_LE(target_.encoded - before, target_.picture_ns - frames + 2) << "each once, for both";
  }
  ASSERT_TRUE(eventually([&] { return server_->connections() == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int before = target_.encoded;
  advance();
  EXPECT_EQ(target_.encoded, before);
}

TEST_F(HttpTest, ANewcomerSeesThePictureThatStandsStill) {
  target_.picture_ns = 1;
  start();
  for (int i = 0; i < 3; ++i) {
    Caller caller(server_->port());
    caller.get("/stream.mjpeg");
    EXPECT_NE(caller.until("--lensd-frame").find("--lensd-frame"), std::string::npos) << i;
  }
}

TEST_F(HttpTest, SilentAndDeafConnectionsEndByThemselves) {
  target_.picture_ns = 1, target_.picture_bytes = 8 << 20;
  HttpOptions options;
  options.head_ns = options.write_ns = 300'000'000;
  start(options);
  Caller silent(server_->port()), slow(server_->port()), deaf(server_->port());
  slow.say("GET / HT");
  deaf.get("/stream.mjpeg");
  ASSERT_TRUE(eventually([&] { return server_->connections() == 3; }));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(HttpTest, ConnectionsAreBounded) {
  HttpOptions options;
  options.max_connections = 4;
  start(options);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < 4; ++i) callers.push_back(std::make_unique<Caller>(server_->port()));
  ASSERT_TRUE(eventually([&] { return server_->connections() == 4; }));
  Caller fifth(server_->port());
  EXPECT_NE(fifth.until("\r\n\r\n").find("503"), std::string::npos);
  EXPECT_EQ(server_->turned_away(), 1u);
  callers.clear();
  ASSERT_TRUE(eventually([&] { return server_->connections() == 0; }));
  Caller again(server_->port());
  again.get("/healthz");
  EXPECT_NE(again.until("\"ok\"").find("200"), std::string::npos);
}

TEST_F(HttpTest, HealthIsThePipelinesNotTheSources) {
  start();
  const auto health = [&](bool alive, const char* source) {
    RunState state;
    state.alive = alive, state.source_state = source;
    target_.set_state(state);
    Caller caller(server_->port());
    caller.get("/healthz");
    return caller.until("\r\n\r\n").substr(9, 3);
  };
  for (const char* source : {"playing", "connecting", "stalled", "reconnecting", "paused", "ended"}) {
    EXPECT_EQ(health(true, source), "200") << source;
    EXPECT_EQ(health(false, source), "503") << source;
  }
  EXPECT_EQ(health(true, "failed"), "503");
}

TEST_F(HttpTest, OriginsAndHostsOfOthersAreTurnedAway) {
  start();
  const auto answer = [&](const std::string& host, const std::string& head) {
    Caller caller(server_->port());
    caller.say("GET /api/v1/version HTTP/1.1\r\nHost: " + host + "\r\n" + head + "\r\n");
    return caller.until("\r\n\r\n").substr(9, 3);
  };
  EXPECT_EQ(answer("localhost:1", ""), "200");
  EXPECT_EQ(answer("127.0.0.1", ""), "200");
  EXPECT_EQ(answer("[::1]:80", ""), "200");
  EXPECT_EQ(answer("evil.example", ""), "403");
  EXPECT_EQ(answer("localhost.evil.example", ""), "403");
  EXPECT_EQ(answer("localhost:1", "Origin: http://localhost:1\r\n"), "200");
  EXPECT_EQ(answer("localhost:1", "Origin: http://localhost:2\r\n"), "403");
  EXPECT_EQ(answer("localhost:1", "Origin: null\r\n"), "403");
}

TEST_F(HttpTest, EndsWithStreamsAndEventsOpen) {
  target_.picture_ns = 1;
  start();
  Caller stream(server_->port()), events(server_->port());
  stream.get("/stream.mjpeg"), events.get("/events?observe=edges.low");
  stream.until("--lensd-frame"), events.until("event-stream");
  const int64_t begin = now_ns();
  server_.reset();
  EXPECT_LT(now_ns() - begin, 5'000'000'000);
}

TEST(Http, RefusesToListenOpenlyWithoutAToken) {
  FakeTarget target("invert");
  EventHub hub;
  HttpOptions options;
  options.auth = false, options.address = "0.0.0.0";
  EXPECT_THROW(HttpServer(target, hub, options), Error);
  options.auth = true;
  const HttpServer server(target, hub, options);
  EXPECT_EQ(server.token().size(), 32u);
  EXPECT_NE(server.token(), make_token());
}

}  // namespace
}  // namespace lensd
