// The control socket: replies, events, and its limits.

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/control_socket.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/control/socket_fixture.hpp"

namespace lensd {
namespace {

TEST_F(SocketTest, RespondsLikeMpv) {
  start(options());
  ControlClient client(options().path);
  EXPECT_EQ(ask(client, R"({"command":["set","edges.low",60],"request_id":7})"),
            (Json{{"request_id", 7}, {"error", "success"}}));
  EXPECT_EQ(ask(client, R"({"command":["get_property","edges.low"],"request_id":"eight"})"),
            (Json{{"request_id", "eight"}, {"error", "success"}, {"data", 60}}));
  EXPECT_NE(ask(client, "not json")["error"], "success");
  EXPECT_EQ(ask(client, "\n{\"command\":[\"version\"]}")["data"], LENSD_VERSION);
  client.send(R"({"command":["load","x"],"request_id":1})");
  EXPECT_FALSE(client.receive(100)) << "replies later";
  EXPECT_EQ(ask(client, R"({"command":["get","edges.low"]})")["data"], 60)
      << "meanwhile other requests are served";
  target_.reply_all();
  EXPECT_EQ(Json::parse(*client.receive(10'000))["data"], "late");
}

TEST_F(SocketTest, DeadlinesAreCheckedWithoutClientsAndChanges) {
  std::atomic<int> pumps{0};
  server_ = std::make_unique<SocketServer>(target_, hub_, SocketOptions{}, [&pumps] { ++pumps; });
  EXPECT_TRUE(eventually([&] { return pumps >= 3; })) << "an HTTP request without an outcome gets no answer";
  server_.reset();  // before `pumps`
}

/// Runs out of memory when it is asked to set something.
class FullTarget : public FakeTarget {
 public:
  using FakeTarget::FakeTarget;
  void change_graph(Batch, Reply) override {
    ++posts;
    throw std::bad_alloc();
  }
  std::atomic<int> posts{0};
};

TEST_F(SocketTest, ARequestThatFailsToAllocateRunsOnce) {
  FullTarget target("canny@edges");
  server_ = std::make_unique<SocketServer>(target, hub_, options());
  ControlClient client(options().path), other(options().path);
  client.send(R"({"command":["set","edges.low",60]})");
  while (client.receive(10'000)) continue;
  EXPECT_TRUE(client.closed()) << "its state is unknown, so the client is disconnected";
  EXPECT_EQ(ask(other, R"({"command":["get","edges.low"]})")["error"], "success");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(target.posts, 1);
  server_.reset();  // before `target`
}

TEST_F(SocketTest, ClientsDoNotWaitForAStoppedServer) {
  const UniqueFd listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options().path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening.get(), 0), 0);
  ControlClient accepted(options().path, ControlClient::Owner::any, 1000);  // by the kernel; nobody reads
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(accepted.send(std::string(16 << 20, 'x'), 200), Error);
  EXPECT_FALSE(accepted.receive(100));
  EXPECT_THROW(
      {
        std::vector<std::unique_ptr<ControlClient>> more;
        for (int i = 0; i < 8; ++i)
          more.push_back(std::make_unique<ControlClient>(options().path, ControlClient::Owner::any, 200));
      },
      Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(SocketTest, SendsChangesToObservers) {
  start(options());
  ControlClient client(options().path), other(options().path);
  ASSERT_EQ(ask(client, R"({"command":["observe",3,"edges.low","events"]})")["error"], "success");
  const auto event = [&] { return Json::parse(client.receive(10'000).value_or("null")); };
  EXPECT_EQ(event()["data"], 50) << "the current value";
  ask(other, R"({"command":["set","edges.low",61]})");
  server_->wake();
  const Json changed = event();
  EXPECT_EQ(changed["event"], "property-change");
  EXPECT_EQ(changed["id"], 3);
  EXPECT_EQ(changed["name"], "edges.low");
  EXPECT_EQ(changed["data"], 61);
  EXPECT_EQ(changed["frame"], 1);
  hub_.publish("notice", 9, {{"text", "hello"}});
  EXPECT_EQ(event()["text"], "hello");
  EXPECT_EQ(ask(client, R"({"command":["unobserve",3]})")["data"], 1);
  EXPECT_EQ(ask(client, R"({"command":["observe",18446744073709551615,"frame"]})")["status"], "usage");
  EXPECT_EQ(ask(client, R"({"command":["observe",-1,"frame"]})")["error"], "success");
  EXPECT_EQ(event()["id"], -1);
  EXPECT_EQ(ask(client, R"({"command":["unobserve",18446744073709551615]})")["status"], "usage");
  EXPECT_EQ(ask(client, R"({"command":["unobserve",-1]})")["data"], 1);
  EXPECT_EQ(ask(client, R"({"command":["observe","speed","nothing"]})")["status"], "not-found");
  EXPECT_EQ(ask(client, R"({"command":["unobserve","speed"]})")["data"], 0) << "refused as a whole";
  EXPECT_FALSE(other.receive(100)) << "clients that observe nothing get no events";
}

TEST_F(SocketTest, RefusesLongLinesAndTooManyClients) {
  SocketOptions o = options();
  o.max_line = 1000, o.max_clients = 2;
  start(o);
  ControlClient client(o.path);
  client.send(std::string(5000, 'x'));
  EXPECT_NE(client.receive(10'000).value_or("").find("longer than 1000"), std::string::npos);
  ControlClient endless(o.path);
  ::send(endless.fd(), std::string(200'000, 'x').data(), 200'000, MSG_NOSIGNAL | MSG_DONTWAIT);
  EXPECT_TRUE(endless.receive(10'000));
  endless.receive(10'000);
  EXPECT_TRUE(endless.closed());
  ASSERT_TRUE(eventually([&] { return server_->clients() == 1; }));
  ControlClient second(o.path), third(o.path);
  EXPECT_NE(third.receive(10'000).value_or("").find("too many"), std::string::npos);
}

TEST_F(SocketTest, DisconnectsAClientThatNeverReads) {
  SocketOptions o = options();
  o.stuck_ns = 1'500'000'000;
  start(o);
  ControlClient stuck(o.path), reader_client(o.path);
  for (ControlClient* client : {&stuck, &reader_client})
    client->send(R"({"command":["observe",1,"events"]})");
  ASSERT_TRUE(reader_client.receive(10'000));
  ASSERT_TRUE(eventually([&] { return server_->clients() == 2; }));
  std::atomic<bool> reading{true};
  std::atomic<int> received{0};
  std::thread reader([&] {
    while (reading)
      if (reader_client.receive(50)) ++received;
  });
  const std::string text(4000, 'x');
  const bool disconnected = eventually([&] {
    for (int i = 0; i < 20; ++i) hub_.publish("notice", i, {{"text", text}});
    server_->wake();
    return server_->disconnected() == 1;
  });
  EXPECT_TRUE(disconnected);
  EXPECT_GT(hub_.dropped(), 0u) << "the oldest events are dropped and counted";
  EXPECT_GT(received, 100) << "the other client still gets events";
  EXPECT_EQ(ask(*std::make_unique<ControlClient>(o.path), R"({"command":["version"]})")["error"], "success");
  reading = false;
  reader.join();
}

TEST_F(SocketTest, ExecutesTheRequestsOfAClientThatHasDisconnected) {
  start(options());
  constexpr int kRequests = 3000;  // more than the server reads at once and executes in one turn
  constexpr size_t kRounds = LENSD_SANITIZED ? 4 : 20;
  for (size_t round = 1; round <= kRounds; ++round) {
    std::string text;
    for (int i = 1; i <= kRequests; ++i)
      text += fmt::format("{{\"command\":[\"set\",\"edges.low\",{}]}}\n", i == kRequests ? round : 77);
    const UniqueFd client = connect_socket(options().path, 0);
    // The server closes no connection before it has read all: a blocking send() of everything succeeds.
    ASSERT_EQ(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // The clients never read responses, so each disconnect is a connection error for the server.
  // The last connections may not be accepted yet, so wait for the requests and not only for the connections'
  // end.
  EXPECT_TRUE(eventually([&] { return target_.posted_count() >= kRounds * kRequests; }));
  EXPECT_TRUE(eventually([&] { return server_->clients() == 0; }));
  EXPECT_EQ(target_.posted_count(), kRounds * kRequests);
}

TEST_F(SocketTest, SixtyFourClientsAtOnce) {
  start(options());
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 64; ++t)
    threads.emplace_back([&, t] {
      ControlClient client(options().path);
      for (int i = 0; i < 20; ++i)
        good += ask(client, Json{{"command", {"set", "edges.low", 1 + t % 100}}, {"request_id", i}}.dump())
                    .value("request_id", -1) == i;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 64 * 20);
  server_.reset();
}

}  // namespace
}  // namespace lensd
