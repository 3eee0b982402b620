// core/control: the command table, properties, requests on the wire, the socket's limits, captures.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/control/captures.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/client.hpp"
#include "core/control/socket/socket_server.hpp"
#include "tests/unit/eventually.hpp"
#include "tests/unit/fake_target.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

Answer run(ControlTarget& target, const Json& command) {
  Answer answer{Status::failed, "no answer", {}};
  run_command(target, {{"command", command}}, nullptr, [&](Answer given) { answer = std::move(given); });
  return answer;
}

TEST(Commands, EveryOneIsDescribedAndFound) {
  for (const CommandSpec& command : command_table()) {
    EXPECT_EQ(find_command(command.name), &command);
    if (command.alias) {
      EXPECT_EQ(find_command(command.alias), &command);
    }
    EXPECT_NE(commands_text().find(command.name), std::string::npos);
    EXPECT_GT(std::string(command.doc).size(), 5u) << command.name;
  }
  EXPECT_EQ(find_command("format-disk"), nullptr);
}

TEST(Commands, SeveralSetsAreOneBatchOrNothing) {
  FakeTarget target("canny@edges,invert");
  EXPECT_EQ(run(target, {"set", "edges.low", 60, "edges.high", "170", "invert.enabled", false}).error, "");
  ASSERT_EQ(target.posted().size(), 1u);
  EXPECT_EQ(std::get<Batch>(target.posted()[0]).changes.size(), 3u);
  EXPECT_EQ(run(target, {"get", "edges.high"}).data, 170);
  EXPECT_EQ(run(target, {"get", "invert.enabled"}).data, false);

  const Answer refused = run(target, {"set", {{"edges.low", 61}, {"edges.high", 1e9}}});
  EXPECT_EQ(refused.fault, Status::refused);
  EXPECT_NE(refused.error.find("high"), std::string::npos) << refused.error;
  EXPECT_EQ(target.posted().size(), 1u) << "nothing of a refused request is applied";
  EXPECT_EQ(run(target, {"get", "edges.low"}).data, 60);
}

TEST(Commands, RecordIsSaidInManyWays) {
  using What = StartRecord::What;
  const struct {
    Json command;
    bool on;
    const char* path;
    What what;
  } cases[] = {
      {{"record"}, true, "", What::output},
      {{"record", "on"}, true, "", What::output},
      {{"record", true}, true, "", What::output},
      {{"record", "a.mkv"}, true, "a.mkv", What::output},
      {{"record", "on", "a.mkv", "source"}, true, "a.mkv", What::source},
      {{"record", "a.mkv", "source"}, true, "a.mkv", What::source},
      {{"record", "source"}, true, "", What::source},
      {{"record", "on", "on"}, true, "on", What::output},
      {{"record", {{"path", "a.mkv"}, {"what", "source"}}}, true, "a.mkv", What::source},
      {{"record", {{"on", false}}}, false, "", What::output},
      {{"record", "off"}, false, "", What::output},
      {{"record", "stop"}, false, "", What::output},
      {{"record", false}, false, "", What::output},
  };
  for (const auto& c : cases) {
    FakeTarget target("invert");
    target.recording = !c.on;
    EXPECT_EQ(run(target, c.command).error, "") << c.command;
    EXPECT_EQ(target.recording, c.on) << c.command;
    EXPECT_EQ(target.recorded.path, c.path) << c.command;
    EXPECT_EQ(target.recorded.what, c.what) << c.command;
  }
  for (const Json& wrong :
       {Json{"record", 1}, Json{"record", "off", "a.mkv"}, Json{"record", "a.mkv", "b.mkv"},
        Json{"record", {{"file", "a.mkv"}}}, Json{"record", "a.mkv", false}}) {
    FakeTarget target("invert");
    EXPECT_EQ(run(target, wrong).fault, Status::usage) << wrong;
  }
}

TEST(Commands, PauseTogglesAndPlaysAnewAtTheEndOfAFile) {
  FakeTarget target("invert");
  const auto toggled = [&](const RunState& state) {
    target.set_state(state);
    EXPECT_EQ(run(target, {"pause", "toggle"}).error, "");
    return std::get<Pause>(target.posted().back()).paused;
  };
  RunState state;
  state.seekable = true;
  EXPECT_TRUE(toggled(state));
  state.paused = true;
  EXPECT_FALSE(toggled(state));
  state.paused = false, state.ended = true;
  EXPECT_FALSE(toggled(state)) << "one press begins anew";
  state.seekable = false;
  EXPECT_TRUE(toggled(state)) << "nothing can be played again";
}

TEST(Commands, RefuseWhatIsWrongWithASentence) {
  FakeTarget target("canny@edges");
  const struct {
    Json command;
    Status fault;
    const char* text;
  } cases[] = {
      {{"set", "edges.low"}, Status::usage, "NAME VALUE"},
      {{"set", "edges.lo", 1}, Status::not_found, "no parameter 'lo'"},
      {{"set", "nobody.low", 1}, Status::not_found, "no node"},
      {{"set", "frame", 1}, Status::refused, "cannot be set"},
      {{"set", "edges.low", nullptr}, Status::refused, "expected"},
      {{"set", "edges.low", "nan"}, Status::refused, "low"},
      {{"get", "nothing"}, Status::not_found, "no property"},
      {{"get", 3}, Status::usage, "expected get"},
      {{"seek"}, Status::usage, "SECONDS"},
      {{"seek", 5}, Status::refused, "cannot seek"},
      {{"seek", 5, "sideways"}, Status::usage, "relative or absolute"},
      {{"speed", 0}, Status::refused, "0.01"},
      {{"pause", "maybe"}, Status::usage, "toggle"},
      {{"observe", "frame"}, Status::usage, "/events"},
      {{"graph-set", "median=radius=99"}, Status::refused, "radius"},
      {{"graph-set", {{"nodes", {{{"filter", "nope"}}}}}}, Status::refused, "nope"},
      {{"graph-set", 3}, Status::usage, "GRAPH"},
      {{"log-level", "loud"}, Status::refused, "trace"},
      {{"shell", "ls"}, Status::not_found, "no command"},
      {{}, Status::usage, "expected"},
  };
  for (const auto& c : cases) {
    const Answer answer = run(target, c.command);
    EXPECT_EQ(answer.fault, c.fault) << c.command.dump() << ": " << answer.error;
    EXPECT_NE(answer.error.find(c.text), std::string::npos) << c.command.dump() << ": " << answer.error;
  }
  EXPECT_TRUE(target.posted().empty());
  target.full = true;
  EXPECT_EQ(run(target, {"set", "edges.low", 10}).fault, Status::busy);
}

TEST(Commands, GraphsGoOutAndInUnchanged) {
  FakeTarget target("median@soft=radius=2,convolve=preset=emboss");
  const Json graph = run(target, {"graph-get"}).data;
  EXPECT_EQ(graph["nodes"][0]["params"]["radius"], 2);
  EXPECT_EQ(graph["chain"], "median@soft=radius=2,convolve=preset=emboss");
  Answer later{Status::failed, "none", {}};
  run_command(target, {{"command", {"graph-set", graph}}}, nullptr, [&](Answer a) { later = std::move(a); });
  EXPECT_EQ(later.error, "none") << "it is planned first";
  target.answer_all();
  EXPECT_EQ(later.error, "");
}

TEST(Commands, NamedArgumentsTakeTheirPlaces) {
  EXPECT_EQ(positional(*find_command("seek"), {{"mode", "absolute"}, {"seconds", 3}}), Json({3, "absolute"}));
  EXPECT_EQ(positional(*find_command("set"), {{"a.b", 1}}), Json::array({Json{{"a.b", 1}}}));
}

TEST(Requests, AreBoundedInDepthAndMustBeObjects) {
  Json request;
  std::string problem;
  EXPECT_TRUE(parse_request(R"({"command":["version"],"request_id":"x"})", request, problem));
  for (const std::string& text :
       {std::string("[]"), std::string("{"), std::string("{\"a\":\"\xff\"}"), std::string("{\"a\":1e999}"),
        R"({"command":[],"request_id":{}})" + std::string(),
        "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}"}) {
    problem.clear();
    EXPECT_FALSE(parse_request(text, request, problem)) << text.substr(0, 40);
    EXPECT_FALSE(problem.empty());
  }
  EXPECT_EQ(answer_text({}, 7), R"({"error":"success","request_id":7})");
  EXPECT_EQ(answer_text({Status::none, {}, "\xff"}, nullptr).find('\n'), std::string::npos);
}

class SocketTest : public ::testing::Test {
 protected:
  SocketOptions options() const {
    SocketOptions o;
    o.path = folder_ / "control.sock";
    o.tick_ns = 20'000'000;
    return o;
  }
  void start(SocketOptions o) { server_ = std::make_unique<SocketServer>(target_, hub_, std::move(o)); }
  Json ask(ControlClient& client, const std::string& line) {
    client.send(line);
    for (;;) {
      const auto text = client.receive(10'000);
      if (!text) return nullptr;
      Json answer = Json::parse(*text);
      if (!answer.contains("event")) return answer;
    }
  }

  TemporaryFolder folder_;
  FakeTarget target_{"canny@edges"};
  EventHub hub_;
  std::unique_ptr<SocketServer> server_;
};

TEST_F(SocketTest, AnswersInMpvsShape) {
  start(options());
  ControlClient client(options().path);
  EXPECT_EQ(ask(client, R"({"command":["set","edges.low",60],"request_id":7})"),
            (Json{{"request_id", 7}, {"error", "success"}}));
  EXPECT_EQ(ask(client, R"({"command":["get_property","edges.low"],"request_id":"eight"})"),
            (Json{{"request_id", "eight"}, {"error", "success"}, {"data", 60}}));
  EXPECT_NE(ask(client, "not json")["error"], "success");
  EXPECT_EQ(ask(client, "\n{\"command\":[\"version\"]}")["data"], LENSD_VERSION);
  client.send(R"({"command":["load","x"],"request_id":1})");
  EXPECT_FALSE(client.receive(100)) << "it takes its time";
  EXPECT_EQ(ask(client, R"({"command":["get","edges.low"]})")["data"], 60) << "and nobody waits for it";
  target_.answer_all();
  EXPECT_EQ(Json::parse(*client.receive(10'000))["data"], "late");
}

TEST_F(SocketTest, HasModeAndStandsAloneAndGoesAway) {
  start(options());
  struct stat info {};
  ASSERT_EQ(stat(options().path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THROW(SocketServer(target_, hub_, options()), Error) << "another instance answers there";
  server_.reset();
  EXPECT_FALSE(fs::exists(options().path));
  EXPECT_THROW(ControlClient(options().path), Error);
  // What a killed run leaves behind is in nobody's way.
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options().path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(dead);
  start(options());
  ControlClient client(options().path);
  EXPECT_EQ(ask(client, R"({"command":["version"]})")["error"], "success");
}

TEST_F(SocketTest, TellsWhatChangedToThoseWhoObserve) {
  start(options());
  ControlClient client(options().path), other(options().path);
  ASSERT_EQ(ask(client, R"({"command":["observe",3,"edges.low"]})")["error"], "success");
  const auto event = [&] { return Json::parse(client.receive(10'000).value_or("null")); };
  EXPECT_EQ(event()["data"], 50) << "the value as it is";
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
  EXPECT_FALSE(other.receive(100)) << "who observes nothing hears nothing";
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

TEST_F(SocketTest, AClientThatNeverReadsIsBoundedAndCutOff) {
  SocketOptions o = options();
  o.stuck_ns = 1'500'000'000;
  start(o);
  ControlClient deaf(o.path), well(o.path);
  for (ControlClient* client : {&deaf, &well}) client->send(R"({"command":["observe",1,"events"]})");
  ASSERT_TRUE(well.receive(10'000));
  ASSERT_TRUE(eventually([&] { return hub_.subscribers() == 2; }));
  std::atomic<bool> reading{true};
  std::atomic<int> received{0};
  std::thread reader([&] {
    while (reading)
      if (well.receive(50)) ++received;
  });
  const std::string text(4000, 'x');
  const bool cut = eventually([&] {
    for (int i = 0; i < 20; ++i) hub_.publish("notice", i, {{"text", text}});
    server_->wake();
    return server_->cut_off() == 1;
  });
  EXPECT_TRUE(cut);
  EXPECT_GT(hub_.dropped(), 0u) << "its oldest events were dropped and counted";
  EXPECT_GT(received, 100) << "the other one went on";
  EXPECT_EQ(ask(*std::make_unique<ControlClient>(o.path), R"({"command":["version"]})")["error"], "success");
  reading = false;
  reader.join();
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

TEST(Captures, StayBelowTheirFolder) {
  const TemporaryFolder folder;
  const std::string root = folder / "captures";
  const Captures captures(root);
  const std::string text = "hello";
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  EXPECT_EQ(captures.write("a.png", bytes), root + "/a.png");
  EXPECT_EQ(fs::file_size(root + "/a.png"), 5u);
  fs::create_directory(root + "/sub");
  EXPECT_EQ(captures.write("sub/b.png", bytes), root + "/sub/b.png");

  std::ofstream(folder / "outside") << "safe";
  fs::create_symlink(folder / "outside", root + "/link");
  fs::create_directory_symlink("..", root + "/up");
  for (const char* bad :
       {"../x.png", "/tmp/x.png", "up/x.png", "sub/../../x.png", "sub/..", "", ".", "nowhere/x.png"}) {
    EXPECT_THROW(captures.write(bad, bytes), Error) << bad;
    EXPECT_THROW(captures.checked(bad), Error) << bad;
  }
  EXPECT_THROW(captures.checked("link"), Error);
  captures.write("link", bytes);  // replaces the link, not what it points to
  EXPECT_EQ(fs::file_size(folder / "outside"), 4u);
  EXPECT_FALSE(fs::exists(folder / "x.png"));
  for (const auto& entry : fs::directory_iterator(root))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << "no temporary file is left";
}

}  // namespace
}  // namespace lensd
