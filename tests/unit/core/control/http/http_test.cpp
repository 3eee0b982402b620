// core/control/http: encoding on demand, limits, refused requests, responses, health, shutdown.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/http/http_access.hpp"
#include "core/control/http/http_server.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/control/fake_target.hpp"
#include "tests/unit/core/control/http/http_client.hpp"

namespace lensd {
namespace {

using test::Client;

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

TEST_F(HttpTest, EncodesOnlyWhileSomebodyWatches) {
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
    Client a(server_->port()), b(server_->port());
    a.get("/stream.mjpeg"), b.get("/stream.mjpeg");
    EXPECT_NE(a.read_until("--lensd-frame").find("multipart/x-mixed-replace"), std::string::npos);
    EXPECT_NE(b.read_until("--lensd-frame").find("200"), std::string::npos);
    const int before = target_.encoded;
    const int64_t frames = target_.picture_ns;
    advance();
    EXPECT_GT(target_.encoded, before);
    EXPECT_LE(target_.encoded - before, target_.picture_ns - frames + 2) << "each frame once, for both";
  }
  ASSERT_TRUE(eventually([&] { return server_->connections() == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int before = target_.encoded;
  advance();
  EXPECT_EQ(target_.encoded, before);
}

TEST_F(HttpTest, NewWatcherGetsThePausedPicture) {
  target_.picture_ns = 1;
  start();
  for (int i = 0; i < 3; ++i) {
    Client client(server_->port());
    client.get("/stream.mjpeg");
    EXPECT_NE(client.read_until("--lensd-frame").find("--lensd-frame"), std::string::npos) << i;
  }
}

TEST_F(HttpTest, APictureThatCannotBeEncodedIsAFailure) {
  for (const auto& [code, status] :
       {std::pair(ExitCode::runtime_failure, "500"), std::pair(ExitCode::unavailable, "422")}) {
    target_.picture_error = Error(code, "picture", "no");
    start();
    Client client(server_->port());
    client.get("/snapshot.png");
    const std::string answer = client.read_until("}");
    EXPECT_NE(answer.find(std::string("HTTP/1.1 ") + status), std::string::npos) << answer;
    server_.reset();
  }
}

TEST_F(HttpTest, RepeatsAPictureWithoutASuccessor) {
  target_.picture_ns = 1;
  start();
  Client client(server_->port());
  client.send_text("GET /stream.mjpeg HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.read_until("x\r\n--lensd-frame").find("x\r\n--lensd-frame"), std::string::npos);
}

TEST_F(HttpTest, ClosesConnectionsThatDoNotSendOrRead) {
  target_.picture_ns = 1, target_.picture_bytes = 8 << 20;
  HttpOptions options;
  options.head_ns = options.write_ns = 300'000'000;
  start(options);
  Client silent(server_->port()), slow(server_->port()), stuck(server_->port());
  slow.send_text("GET / HT");
  stuck.get("/stream.mjpeg");
  ASSERT_TRUE(eventually([&] { return server_->connections() == 3; }));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(HttpTest, ARefusedClientThatStaysIsClosedAfterASecond) {
  HttpOptions options;
  options.head_ns = options.write_ns = 60'000'000'000;
  start(options);
  Client client(server_->port());
  client.get("/" + std::string(20000, 'a'));
  EXPECT_NE(client.read_until("never").find("HTTP/1.1 4"), std::string::npos);
  EXPECT_TRUE(client.closed()) << "the response is complete, but the client's end stays open";
  const int64_t start = now_ns();
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
  EXPECT_LT(now_ns() - start, 5'000'000'000);
}

TEST_F(HttpTest, ARefusedClientSeesTheEndOfTheResponseAtOnce) {
  start();
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < 5 && shortest > 500'000'000; ++i) {  // a busy machine may be late
    Client client(server_->port());
    const int64_t begin = now_ns();
    client.get("/" + std::string(20000, 'a'));
    client.read_until("never");
    shortest = std::min(shortest, now_ns() - begin);
    EXPECT_TRUE(client.closed());
  }
  EXPECT_LT(shortest, 500'000'000) << "the server reads the rest of the request for a second";
}

TEST_F(HttpTest, OptionsNamesTheMethods) {
  start();
  Client client(server_->port());
  client.send_text("OPTIONS /command HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 204 ")) << head;
  EXPECT_NE(head.find("Allow: GET, HEAD, POST, OPTIONS\r\n"), std::string::npos) << head;
}

TEST_F(HttpTest, LimitsConnections) {
  HttpOptions options;
  options.max_connections = 4;
  start(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<Client>(server_->port()));
  ASSERT_TRUE(eventually([&] { return server_->connections() == 4; }));
  // A new connection replaces the oldest one that has not sent the token.
  auto fifth = std::make_unique<Client>(server_->port());
  fifth->get("/events");
  EXPECT_NE(fifth->read_until("\r\n\r\n").find("200"), std::string::npos);
  clients.front()->read_until("never");
  EXPECT_TRUE(clients.front()->closed());
  EXPECT_EQ(server_->refused(), 1u);
  // If all connections have sent the token, a new one is refused.
  clients.clear();
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(server_->port()));
    clients.back()->get("/events");
    clients.back()->read_until("\r\n\r\n");
  }
  {
    Client refused(server_->port());
    EXPECT_NE(refused.read_until("\r\n\r\n").find("503"), std::string::npos);
  }
  EXPECT_EQ(server_->refused(), 2u);
  clients.clear(), fifth.reset();
  ASSERT_TRUE(eventually([&] { return server_->connections() == 0; }));
  Client again(server_->port());
  again.get("/healthz");
  EXPECT_NE(again.read_until("\"ok\"").find("200"), std::string::npos);
}

TEST_F(HttpTest, TheRestOfARefusedRequestIsNeverARequest) {
  start();
  const std::string smuggled =
      "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\ntrue";
  const std::string length = "Content-Length: " + std::to_string(smuggled.size()) + "\r\n";
  const std::string host = "Host: localhost\r\n";
  const std::string requests[] = {
      "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n" + host + length + "\r\n" + smuggled,
      "GET /nothing HTTP/1.1\r\nRange: bytes=9-1\r\n" + host + length + "\r\n" + smuggled,
      "HEAD /healthz HTTP/1.1\r\n" + host + length + "\r\n" + smuggled,
      "OPTIONS / HTTP/1.1\r\n" + host + length + "\r\n" + smuggled,
      "PUT / HTTP/1.1\r\n" + host + length + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n" + host + length + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nOrigin: http://evil.example\r\n" + host + length + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n" + host + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n" + host + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n" + host + "\r\n" + smuggled,
      "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: gzip\r\n" + host + "\r\n" + smuggled,
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host + length + "\r\n0\r\n\r\n" + smuggled,
  };
  for (const std::string& request : requests) {
    Client client(server_->port());
    client.send_text(request);
    const std::string answer = client.read_until("\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(answer.compare(0, 9, "HTTP/1.1 "), 0) << request.substr(0, 60);
    EXPECT_TRUE(target_.posted().empty()) << request.substr(0, 60);
  }
}

TEST_F(HttpTest, AnEndlessHeadIsRefused) {
  HttpOptions options;
  options.head_ns = 500'000'000;
  start(options);
  Client flood(server_->port()), trickle(server_->port());
  flood.send_text("GET / HTTP/1.1\r\n");
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "a:b\r\n";
  flood.send_text(lines);
  EXPECT_NE(flood.read_until("\r\n\r\n").find("431"), std::string::npos);
  // A head that arrives slowly does not extend its deadline.
  trickle.send_text("GET / HTTP/1.1\r\n");
  const int64_t begin = now_ns();
  while (server_->connections() > 1 && now_ns() - begin < 5'000'000'000) {
    trickle.send_text("a:b\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(now_ns() - begin, 3'000'000'000);
}

TEST_F(HttpTest, BodiesOfAnyEncodingKeepTheLimit) {
  HttpOptions options;
  options.max_body = 1000;
  start(options);
  Client length(server_->port()), chunked(server_->port());
  length.send_text("POST /api/v1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_NE(length.read_until("\r\n\r\n").find("413"), std::string::npos);
  chunked.send_text("POST /api/v1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "200\r\n" + std::string(512, ' ') + "\r\n";
  chunked.send_text(chunk + chunk + chunk);
  EXPECT_NE(chunked.read_until("\r\n\r\n").find("413"), std::string::npos);
}

TEST_F(HttpTest, MalformedChunksAreAnswered) {
  start();
  for (const std::string chunk :
       {"0x2\r\n{}\r\n", "-2\r\n{}\r\n", "10000000000000002\r\n", "2\r\n{}xx0\r\n"}) {
    Client client(server_->port());
    client.send_text("POST /api/v1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
                     chunk + "0\r\n\r\n");
    EXPECT_NE(client.read_until("\r\n\r\n").find(" 400 "), std::string::npos) << chunk;
  }
}

TEST_F(HttpTest, ServesRequestsThatFollowEachOther) {
  HttpOptions options;
  options.head_ns = 500'000'000;
  start(options);
  Client client(server_->port());
  const std::string get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send_text(get + get + "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nX-Last: 1\r\n\r\n");
  const std::string answers = client.read_until("never");
  size_t count = 0;
  for (size_t at = 0; (at = answers.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u) << answers;
}

TEST_F(HttpTest, ALateReplyIsNeverASecondResponse) {
  HttpOptions options;
  options.reply_ns = 200'000'000;
  start(options);
  Client client(server_->port());
  // The fake target replies only when reply_all() is called.
  client.send_text("POST /api/v1/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n\"x.y\"");
  EXPECT_NE(client.read_until("in time").find("HTTP/1.1 503"), std::string::npos);
  target_.reply_all();
  client.get("/healthz");
  const std::string all = client.read_until("never");
  EXPECT_NE(all.find("Connection: close"), std::string::npos) << all;
  EXPECT_EQ(all.rfind("HTTP/1.1 "), 0u) << all;
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpTest, ResponsesStateTheLengthOfTheirBody) {
  start();
  for (const char* method : {"GET", "HEAD"}) {
    Client client(server_->port());
    client.send_text(std::string(method) +
                     " /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string answer = client.read_until("never");
    ASSERT_TRUE(client.closed());
    const size_t head = answer.find("\r\n\r\n"), field = answer.find("Content-Length: ");
    ASSERT_NE(head, std::string::npos);
    ASSERT_LT(field, head) << answer;
    const size_t length = std::stoul(answer.substr(field + 16));
    EXPECT_GT(length, 0u);
    EXPECT_EQ(answer.size() - head - 4, method == std::string("GET") ? length : 0) << answer;
  }
}

TEST_F(HttpTest, HealthDependsOnThePipelineNotTheSource) {
  start();
  const auto health = [&](bool alive, const char* source) {
    RunState state;
    state.alive = alive, state.source_state = source;
    target_.set_state(state);
    Client client(server_->port());
    client.get("/healthz");
    return client.read_until("\r\n\r\n").substr(9, 3);
  };
  for (const char* source : {"playing", "connecting", "stalled", "reconnecting", "paused", "ended"}) {
    EXPECT_EQ(health(true, source), "200") << source;
    EXPECT_EQ(health(false, source), "503") << source;
  }
  EXPECT_EQ(health(true, "failed"), "503");
}

TEST_F(HttpTest, RefusesForeignOriginsAndHosts) {
  start();
  const auto answer = [&](const std::string& host, const std::string& head) {
    Client client(server_->port());
    client.send_text("GET /api/v1/version HTTP/1.1\r\nHost: " + host + "\r\n" + head + "\r\n");
    return client.read_until("\r\n\r\n").substr(9, 3);
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

TEST_F(HttpTest, StopsWithStreamsAndEventsOpen) {
  target_.picture_ns = 1;
  start();
  Client stream(server_->port()), events(server_->port());
  stream.get("/stream.mjpeg"), events.get("/events?observe=edges.low");
  stream.read_until("--lensd-frame"), events.read_until("event-stream");
  const int64_t begin = now_ns();
  server_.reset();
  EXPECT_LT(now_ns() - begin, 5'000'000'000);
}

TEST(Http, NamesOfHostsIgnoreCase) {
  EXPECT_TRUE(known_host("myhost.lan:8080", "MyHost.lan", {}));
  EXPECT_TRUE(known_host("MYHOST.LAN", "myhost.lan", {}));
  EXPECT_TRUE(known_host("Other", "127.0.0.1", {"other"}));
  EXPECT_FALSE(known_host("evil.example", "MyHost.lan", {"other"}));
}

TEST(Http, TheWordBearerIgnoresCase) {
  for (const char* header : {"Bearer secret-1", "bearer secret-1", "BEARER secret-1"})
    EXPECT_TRUE(has_token(header, "", "cookie", "secret-1")) << header;
  for (const char* header : {"", "bearer", "bearer ", "secret-1", "Bearer Secret-1", "Basic secret-1"})
    EXPECT_FALSE(has_token(header, "", "cookie", "secret-1")) << header;
}

TEST(Http, OnlyAddressesAndLocalhostAreLoopback) {
  for (const char* address : {"127.0.0.1", "127.8.9.10", "::1", "localhost", "LocalHost", "localhost.",
                              "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"127.example.com", "127.1", "127.", "128.0.0.1", "::2", "", "::ffff:10.0.0.1",
                              "::", "localhost.example.com", "localhost..", "mylocalhost", "localhost\n"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

TEST(Http, AddressesWithAnyTokenOpenThePage) {
  FakeTarget target("invert");
  EventHub hub;
  HttpOptions options;
  options.token = "a+b/c-._~==";
  const HttpServer server(target, hub, options);
  Client client(server.port());
  client.get(server.url().substr(server.url().find("/?token=")));
  EXPECT_NE(client.read_until("\r\n\r\n").find("Set-Cookie: "), std::string::npos);
}

TEST(Http, RefusesPublicAddressWithoutToken) {
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

TEST(Http, AnEmptyAddressIsRefused) {
  FakeTarget target("invert");
  EventHub hub;
  HttpOptions options;
  options.address = "";
  EXPECT_THROW(HttpServer(target, hub, options), Error) << "it would listen on all addresses";
  EXPECT_FALSE(known_host("", "", {}));
  EXPECT_FALSE(known_host(":80", "", {}));
}

}  // namespace
}  // namespace lensd
