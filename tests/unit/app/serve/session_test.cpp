// app/serve/session: reading back values, transactions of graphs and reloads, changes of the source,
// snapshots, recordings, and a reply to every request.

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <future>
#include <thread>

#include "app/pipeline/recorder_sink.hpp"
#include "app/serve/control_servers.hpp"
#include "app/serve/session.hpp"
#include "core/base/error.hpp"
#include "core/control/socket/control_client.hpp"
#include "core/graph/edit_shape.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  /// Starts a session. The sources "good" and "paused" can be opened. Opening "pipe" waits until it is
  /// cancelled. Others cannot be opened.
  void start(const std::string& chain, const std::string& url = "good") {
    SessionOptions options;
    options.captures = folder_ / "captures";
    options.layers.files = {folder_ / "a.toml"};
    options.open = [this](const std::string& name, const GraphDesc& graph, const std::atomic<bool>& cancel) {
      if (name == "pipe") opens_pipe_ = true;
      while (name == "pipe" && !cancel) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (name != "good" && name != "paused") throw Error(ExitCode::bad_source, name, "is not there");
      PipelineOptions o;
      o.executor = {.threads = 1, .frames = 6};
      o.graph = graph, o.paced = true, o.paused = name == "paused";
      o.on_change = [this] { running_->changed(); };
      auto source = std::make_unique<SyntheticSource>(extent_, 1'000'000);
      if (records_) o.sinks = {std::make_shared<RecorderSink>(RecordSettings{}, source->info())};
      return std::make_unique<Pipeline>(std::move(source), o, registry());
    };
    session_ = std::make_unique<Session>(std::move(options), registry());
    running_ = session_.get();
    ControlOptions control;
    control.socket.path = folder_ / "control.sock";
    servers_ = std::make_unique<ControlServers>(*session_, control);
    session_->start(url, parse_chain(chain, registry()));
  }
  void TearDown() override {
    servers_.reset();
    session_.reset();
  }

  void write_config(const std::string& text) { std::ofstream(folder_ / "a.toml") << text; }

  template <class F>
  static Response wait_for(F request) {
    auto promise = std::make_shared<std::promise<Response>>();
    auto future = promise->get_future();
    request([promise](Response answer) { promise->set_value(std::move(answer)); });
    if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
      return {Status::failed, "no reply"};
    return future.get();
  }
  Response reload() {
    return wait_for([this](Reply reply) { session_->reload(std::move(reply)); });
  }
  /// Changes values of the graph without waiting for a plan. Returns false if they were refused at once.
  static bool change(Session& session, std::vector<GraphChange> changes) {
    const auto refused = std::make_shared<std::atomic<bool>>(false);
    session.change_graph({.changes = std::move(changes)},
                         [refused](const Response& response) { *refused = !response.ok(); });
    return !*refused;
  }
  std::string chain() const { return to_chain(session_->graph().graph); }

  TemporaryFolder folder_;
  Extent extent_{64, 48};
  bool records_ = false;  ///< the pipelines have a recorder
  std::atomic<bool> opens_pipe_{false};
  std::unique_ptr<Session> session_;
  Session* running_ = nullptr;  // valid also while session_ is being destroyed
  std::unique_ptr<ControlServers> servers_;
};

TEST_F(SessionTest, ValuesAreReadBackAtOnce) {
  for (const char* url : {"good", "paused"}) {
    start("mosaic,crop", url);
    for (int i = 2; i < 200; ++i) {
      const bool plan = i % 7 == 0;  // crop's parameters need a new plan
      ASSERT_TRUE(change(*session_, {SetParam{"mosaic", "block", ParamValue(int64_t{i})},
                                     SetParam{"crop", "x", ParamValue(int64_t{plan ? i % 60 : 0})}}));
      const GraphState state = session_->graph();
      ASSERT_EQ(std::get<int64_t>(state.graph.find("mosaic")->params.back().second), i) << url;
    }
    TearDown();
  }
}

TEST_F(SessionTest, ManyPendingChangesCostNoMoreThanOne) {
  SessionOptions options;
  options.load = [](const std::string&, Reply) {};
  Session session(std::move(options), registry());
  PipelineOptions o;
  o.executor = {.threads = 1, .frames = 6};
  o.graph = parse_chain("mosaic", registry());
  // A pipeline that is not started applies nothing.
  session.attach(
      std::make_shared<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 10), o, registry()),
      "good");
  const auto cpu_seconds = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = cpu_seconds();
  for (int64_t i = 0; i < 300; ++i) {
    std::vector<GraphChange> changes;
    for (int64_t n = 0; n < 512; ++n)
      changes.emplace_back(SetParam{"mosaic", "block", ParamValue(2 + (i + n) % 60)});
    if (!change(session, std::move(changes))) {
      EXPECT_GT(i, 100) << "the queue is too short for this test";
      break;
    }
    const GraphState state = session.graph();
    ASSERT_EQ(std::get<int64_t>(state.graph.find("mosaic")->params.back().second), 2 + (i + 511) % 60);
  }
  EXPECT_LT(cpu_seconds() - begin, 5);
}

TEST_F(SessionTest, StoppingDoesNotWaitForAPictureBeingEncoded) {
  extent_ = {1920, 1080};  // noise: a PNG takes some 100 ms
  start("invert", "paused");
  ASSERT_TRUE(eventually([&] { return session_->picture(PictureType::jpeg, 0) != nullptr; }));
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    session_->stop_soon();
  });
  EXPECT_EQ(session_->picture(PictureType::png, 0), nullptr);
  stop.join();
  EXPECT_EQ(session_->picture(PictureType::jpeg, 0), nullptr);
}

TEST_F(SessionTest, ReloadsAreAllOrNothing) {
  start("invert");
  write_config("[[node]]\nfilter = \"median\"\nradius = 2\n");
  EXPECT_EQ(reload().error, "");
  EXPECT_EQ(chain(), "median=radius=2");

  write_config("[http]\nport = \"x\"\n[[node]]\nfilter = \"median\"\nradius = 77\n");
  const Response refused = reload();
  EXPECT_NE(refused.error.find("a.toml:2:8"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("a.toml:5:10"), std::string::npos) << refused.error;
  EXPECT_EQ(chain(), "median=radius=2");

  // A valid graph, but the sizes of blend's inputs differ. Refused by the planner.
  write_config(
      "[[node]]\nfilter = \"crop\"\nwidth = 20\n[[node]]\nfilter = \"blend\"\ninputs = [\"source\", "
      "\"crop\"]\n");
  const Response unplannable = reload();
  EXPECT_NE(unplannable.error.find("blend"), std::string::npos) << unplannable.error;
  EXPECT_EQ(chain(), "median=radius=2");
  EXPECT_EQ(session_->state().reloads, 1u);
  EXPECT_EQ(session_->state().reloads_refused, 2u);
}

TEST_F(SessionTest, ReloadsDropNoFrame) {
  start("invert");
  const auto pipeline = session_->pipeline();
  for (int i = 0; i < 60; ++i) {
    write_config(i % 2 ? "[[node]]\nfilter = \"nope\"\n"
                       : "[[node]]\nfilter = \"mosaic\"\nblock = " + std::to_string(2 + i) + "\n");
    ASSERT_EQ(reload().error.empty(), i % 2 == 0);
  }
  pipeline->stop();
  const PipelineStatus status = pipeline->status();
  EXPECT_EQ(status.processed, static_cast<uint64_t>(status.frame_index + 1)) << "each frame once";
  EXPECT_EQ(session_->state().reloads, 30u);
}

TEST_F(SessionTest, ANewerRequestCancelsTheOpeningOfASource) {
  start("invert");
  write_config("[[node]]\nfilter = \"median\"\n");
  const auto load = [&](const std::string& url) {
    auto promise = std::make_shared<std::promise<Response>>();
    session_->load(url, [promise](Response answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  };
  const auto get = [](std::future<Response>& reply) -> Response {
    if (reply.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
      return {Status::failed, "none"};
    return reply.get();
  };
  std::future<Response> first = load("pipe"), second = load("pipe"), third = load("good");
  EXPECT_NE(get(first).error.find("cancelled by a newer load"), std::string::npos);
  EXPECT_NE(get(second).error.find("cancelled by a newer load"), std::string::npos);
  EXPECT_EQ(get(third).error, "");

  std::future<Response> fourth = load("pipe");
  EXPECT_EQ(reload().error, "");
  EXPECT_NE(get(fourth).error.find("cancelled by a newer"), std::string::npos);
  EXPECT_EQ(chain(), "median");

  std::future<Response> last = load("pipe");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  session_->stop();
  EXPECT_NE(get(last).error.find("lensd is ending"), std::string::npos);
}

TEST_F(SessionTest, ALoadThatCannotBeQueuedCancelsNothing) {
  start("invert");
  std::promise<Response> first, second;
  std::future<Response> opening = first.get_future(), busy = second.get_future();
  session_->load("pipe", [&](Response answer) { first.set_value(std::move(answer)); });
  ASSERT_TRUE(eventually([&] { return opens_pipe_.load(); })) << "nothing leaves the queue after this";
  std::atomic<int> refused{0};
  for (int i = 0; i < 200; ++i)
    session_->set_graph({}, [&](const Response& r) { refused += r.status == Status::busy; });
  ASSERT_GT(refused, 0) << "the queue is not full";
  session_->load("good", [&](Response answer) { second.set_value(std::move(answer)); });
  EXPECT_EQ(busy.get().status, Status::busy);
  EXPECT_EQ(opening.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  session_->stop();
  EXPECT_NE(opening.get().error.find("lensd is ending"), std::string::npos);
}

TEST_F(SessionTest, ARefusedRecordingDoesNotEndTheRunningOne) {
  records_ = true;
  start("invert");
  std::filesystem::create_directories(folder_ / "captures");
  std::ofstream(folder_ / "captures/old.mkv") << "precious";
  const auto record = [&](const std::string& path) {
    return wait_for([&](Reply reply) { session_->record(true, {.path = path}, std::move(reply)); });
  };
  ASSERT_EQ(record("a.mkv").data["path"], folder_ / "captures/a.mkv");
  for (const char* bad : {"%Y/../../b.mkv", "../b.mkv", "b.txt", "old.mkv", "a.mkv", "none/b.mkv"}) {
    EXPECT_FALSE(record(bad).ok()) << bad;
    EXPECT_EQ(session_->state().record.path, folder_ / "captures/a.mkv") << bad;
    EXPECT_TRUE(session_->state().record.active) << bad;
  }
  // The system refuses this name when the file is opened. The recording continues in another file.
  EXPECT_NE(record(std::string(300, 'b') + ".mkv").error.find("too long"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return session_->state().record.path == folder_ / "captures/a-2.mkv"; }));
  EXPECT_TRUE(session_->state().record.active);
}

TEST_F(SessionTest, FailedLoadChangesNothing) {
  start("invert");
  const auto before = session_->pipeline();
  const auto load = [&](const std::string& url) {
    return wait_for([&](Reply reply) { session_->load(url, std::move(reply)); });
  };
  EXPECT_NE(load("nowhere").error.find("is not there"), std::string::npos);
  EXPECT_EQ(session_->pipeline(), before);
  const uint64_t version = session_->graph().version;
  EXPECT_EQ(load("paused").error, "");
  EXPECT_NE(session_->pipeline(), before);
  EXPECT_GT(session_->graph().version, version);
  EXPECT_TRUE(session_->state().paused);
  EXPECT_EQ(chain(), "invert") << "the graph is kept";
}

TEST_F(SessionTest, WritesSnapshotsWhilePaused) {
  start("invert", "paused");
  Response answer;
  EXPECT_TRUE(eventually([&] {
    answer = wait_for([&](Reply reply) { session_->snapshot("a.png", std::move(reply)); });
    return answer.status == Status::ok;
  }));
  EXPECT_EQ(answer.data["path"], folder_ / "captures/a.png");
  for (const char* bad : {"../a.png", "a.bmp", "/a.png"})
    EXPECT_NE(wait_for([&](Reply reply) { session_->snapshot(bad, std::move(reply)); }).status, Status::ok)
        << bad;
  EXPECT_EQ(wait_for([&](Reply reply) { session_->snapshot("b.jpg", std::move(reply)); }).error, "");
}

TEST_F(SessionTest, OnlyFailuresCountAsErrors) {
  start("invert", "paused");
  const auto snapshot = [&](const std::string& name) {
    return wait_for([&](Reply reply) { session_->snapshot(name, std::move(reply)); }).status;
  };
  EXPECT_TRUE(eventually([&] { return snapshot("a.png") == Status::ok; }));
  const uint64_t before = session_->state().errors;
  EXPECT_EQ(snapshot("../a.png"), Status::refused);
  EXPECT_EQ(wait_for([&](Reply reply) { session_->load("nowhere", std::move(reply)); }).status,
            Status::refused);
  EXPECT_EQ(session_->state().errors, before);
  // The folder of the file cannot be made.
  std::ofstream(folder_ / "captures/file") << "x";
  EXPECT_EQ(snapshot("file/b.png"), Status::failed);
  EXPECT_EQ(session_->state().errors, before + 1);
}

TEST_F(SessionTest, NoSnapshotReplacesTheSource) {
  const std::string source = folder_ / "captures/photo.png";
  std::filesystem::create_directories(folder_ / "captures");
  std::ofstream(source) << "precious";
  start("invert");
  session_->attach(session_->pipeline(), source);
  const auto snapshot = [&](const std::string& name) {
    return wait_for([&](Reply reply) { session_->snapshot(name, std::move(reply)); }).error;
  };
  EXPECT_TRUE(eventually([&] { return snapshot("free.png").empty(); }));
  EXPECT_NE(snapshot("photo.png").find("would overwrite the source"), std::string::npos);
  EXPECT_NE(snapshot("./photo.png").find("would overwrite the source"), std::string::npos);
  std::ifstream kept(source);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "precious");
}

TEST_F(SessionTest, RepliesToEverythingBeforeTheFirstSource) {
  SessionOptions options;
  options.captures = folder_ / "captures";
  options.open = [](const std::string&, const GraphDesc&,
                    const std::atomic<bool>&) -> std::unique_ptr<Pipeline> {
    throw Error(ExitCode::bad_source, "source", "is not there");
  };
  Session session(std::move(options), registry());
  const auto busy = [&](auto request) {
    return wait_for([&](Reply reply) { request(session, std::move(reply)); }).status != Status::ok;
  };
  EXPECT_TRUE(busy([](Session& s, Reply r) { s.trace("t.json", std::move(r)); }));
  EXPECT_TRUE(busy([](Session& s, Reply r) { s.set_graph({}, std::move(r)); }));
  EXPECT_TRUE(busy([](Session& s, Reply r) { s.snapshot("a.png", std::move(r)); }));
  EXPECT_TRUE(busy([](Session& s, Reply r) { s.record(true, {}, std::move(r)); }));
  EXPECT_TRUE(busy([](Session& s, Reply r) { s.load("x", std::move(r)); }));
  EXPECT_FALSE(busy([](Session& s, Reply r) { s.record(false, {}, std::move(r)); }));
  EXPECT_FALSE(session.post(Pause{}));
  EXPECT_EQ(session.state().source_state, "connecting");
}

TEST_F(SessionTest, KeepsTheEditsOfAllClients) {
  start("median");
  const auto add = [](GraphDesc& graph) -> Response {
    return {.data = {{"node", add_node(graph, *registry().find("invert"), "median")}}};
  };
  std::atomic<int> added{0};
  for (int i = 0; i < 10; ++i) {
    session_->edit_graph(add, [&](const Response& response) { added += response.ok(); });
    ASSERT_TRUE(change(*session_, {SetParam{"median", "radius", ParamValue(int64_t{i % 5 + 1})}}));
  }
  const Response last = wait_for([&](Reply reply) { session_->edit_graph(add, std::move(reply)); });
  EXPECT_EQ(last.data["node"], "invert11");
  EXPECT_EQ(added, 10);
  const GraphDesc graph = session_->graph().graph;
  EXPECT_EQ(graph.nodes.size(), 12u);
  EXPECT_EQ(value_of(graph.nodes[0], *registry().find("median")->schema().find("radius")),
            ParamValue(int64_t{5}));

  const auto refused = [&](const GraphEdit& edit) {
    return wait_for([&](Reply reply) { session_->edit_graph(edit, std::move(reply)); });
  };
  EXPECT_EQ(refused([](GraphDesc& g) -> Response {
              g.nodes.clear();
              return {Status::refused, "no"};
            }).error,
            "no");
  EXPECT_EQ(refused([](GraphDesc& g) -> Response {
              while (g.nodes.size() <= 256) add_node(g, *registry().find("invert"), "median");
              return {};
            }).status,
            Status::refused);
  EXPECT_EQ(session_->graph().graph.nodes.size(), 12u);
}

TEST_F(SessionTest, RepliesToEverythingAtShutdown) {
  start("invert");
  std::atomic<int> answered{0};
  for (int i = 0; i < 50; ++i) {
    session_->set_graph(parse_chain(i % 2 ? "invert" : "mosaic", registry()),
                        [&](const Response&) { ++answered; });
    session_->load("good", [&](const Response&) { ++answered; });
  }
  session_->stop();
  EXPECT_EQ(answered, 100);
  EXPECT_FALSE(session_->post(Pause{}));
}

}  // namespace
}  // namespace lensd
