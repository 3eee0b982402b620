// app/session: what is set is read back, reloads and graphs as transactions, sources that are changed.

#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "app/serve/control_desk.hpp"
#include "app/serve/session.hpp"
#include "core/base/error.hpp"
#include "core/control/socket/client.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/eventually.hpp"
#include "tests/unit/synthetic_source.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace lensd {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  /// A session whose source is "good", "paused" or anything else, which cannot be opened.
  void start(const std::string& chain, const std::string& url = "good") {
    SessionOptions options;
    options.captures = folder_ / "captures";
    options.layers.files = {folder_ / "a.toml"};
    options.source_fixed = true;
    options.open = [this](const std::string& name, const GraphDesc& graph) {
      if (name != "good" && name != "paused") throw Error(ExitCode::bad_source, name, "is not there");
      PipelineOptions o;
      o.executor = {.threads = 1, .frames = 6};
      o.graph = graph, o.paced = true, o.paused = name == "paused";
      o.on_change = [this] { running_->changed(); };
      return std::make_unique<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                        registry());
    };
    session_ = std::make_unique<Session>(std::move(options), registry());
    running_ = session_.get();
    ControlDeskOptions desk;
    desk.socket.path = folder_ / "control.sock";
    desk_ = std::make_unique<ControlDesk>(*session_, desk);
    session_->start(url, parse_chain(chain, registry()));
  }
  void TearDown() override {
    desk_.reset();
    session_.reset();
  }

  void write_config(const std::string& text) { std::ofstream(folder_ / "a.toml") << text; }

  template <class F>
  static Answer wait_for(F request) {
    auto promise = std::make_shared<std::promise<Answer>>();
    auto future = promise->get_future();
    request([promise](Answer answer) { promise->set_value(std::move(answer)); });
    if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
      return {Status::failed, "silence", {}};
    return future.get();
  }
  Answer reload() {
    return wait_for([this](Reply reply) { session_->reload(std::move(reply)); });
  }
  std::string chain() const { return to_chain(session_->graph().graph); }

  TemporaryFolder folder_;
  std::unique_ptr<Session> session_;
  Session* running_ = nullptr;  // also while session_ lets go of it
  std::unique_ptr<ControlDesk> desk_;
};

TEST_F(SessionTest, WhatIsSetIsReadBackAtOnce) {
  for (const char* url : {"good", "paused"}) {
    start("mosaic,crop", url);
    for (int i = 2; i < 200; ++i) {
      const bool plan = i % 7 == 0;  // crop's parameters take a new plan
      ASSERT_TRUE(session_->post(Batch{{SetParam{"mosaic", "block", ParamValue(int64_t{i})},
                                        SetParam{"crop", "x", ParamValue(int64_t{plan ? i % 60 : 0})}}}));
      const GraphState state = session_->graph();
      ASSERT_EQ(std::get<int64_t>(state.graph.find("mosaic")->params.back().second), i) << url;
    }
    TearDown();
  }
}

TEST_F(SessionTest, ReloadsAreAllOrNothing) {
  start("invert");
  write_config("[[node]]\nfilter = \"median\"\nradius = 2\n");
  EXPECT_EQ(reload().error, "");
  EXPECT_EQ(chain(), "median=radius=2");

  write_config("[http]\nport = \"x\"\n[[node]]\nfilter = \"median\"\nradius = 77\n");
  const Answer refused = reload();
  EXPECT_NE(refused.error.find("a.toml:2:8"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("a.toml:5:10"), std::string::npos) << refused.error;
  EXPECT_EQ(chain(), "median=radius=2");

  // Sound by itself, but the sizes do not fit: found by the planner, rolled back.
  write_config(
      "[[node]]\nfilter = \"crop\"\nwidth = 20\n[[node]]\nfilter = \"blend\"\ninputs = [\"source\", "
      "\"crop\"]\n");
  const Answer unplannable = reload();
  EXPECT_NE(unplannable.error.find("blend"), std::string::npos) << unplannable.error;
  EXPECT_EQ(chain(), "median=radius=2");
  EXPECT_EQ(session_->state().reloads, 1u);
  EXPECT_EQ(session_->state().reloads_refused, 2u);
}

TEST_F(SessionTest, ReloadsLoseNoFrame) {
  start("invert");
  const auto pipeline = session_->pipeline();
  for (int i = 0; i < 60; ++i) {
    write_config(i % 2 ? "[[node]]\nfilter = \"nope\"\n"
                       : "[[node]]\nfilter = \"mosaic\"\nblock = " + std::to_string(2 + i) + "\n");
    ASSERT_EQ(reload().error.empty(), i % 2 == 0);
  }
  pipeline->stop();
  const PipelineStatus status = pipeline->status();
  EXPECT_EQ(status.processed, static_cast<uint64_t>(status.frame_index + 1)) << "each frame, once";
  EXPECT_EQ(session_->state().reloads, 30u);
}

TEST_F(SessionTest, ASourceThatCannotBeOpenedChangesNothing) {
  start("invert");
  const auto before = session_->pipeline();
  const auto load = [&](const std::string& url) {
    return wait_for([&](Reply reply) { session_->load(url, std::move(reply)); });
  };
  EXPECT_NE(load("nowhere").error.find("is not there"), std::string::npos);
  EXPECT_EQ(session_->pipeline(), before);
  EXPECT_EQ(load("paused").error, "");
  EXPECT_NE(session_->pipeline(), before);
  EXPECT_TRUE(session_->state().paused);
  EXPECT_EQ(chain(), "invert") << "the graph goes along";
}

TEST_F(SessionTest, SnapshotsAreWrittenWhilePaused) {
  start("invert", "paused");
  Answer answer;
  EXPECT_TRUE(eventually([&] {
    answer = wait_for([&](Reply reply) { session_->snapshot("a.png", std::move(reply)); });
    return answer.fault == Status::none;
  }));
  EXPECT_EQ(answer.data["path"], folder_ / "captures/a.png");
  for (const char* bad : {"../a.png", "a.bmp", "/a.png"})
    EXPECT_NE(wait_for([&](Reply reply) { session_->snapshot(bad, std::move(reply)); }).fault, Status::none)
        << bad;
  EXPECT_EQ(wait_for([&](Reply reply) { session_->snapshot("b.jpg", std::move(reply)); }).error, "");
}

TEST_F(SessionTest, BeforeThereIsASourceEverythingIsAnswered) {
  SessionOptions options;
  options.captures = folder_ / "captures";
  options.open = [](const std::string&, const GraphDesc&) -> std::unique_ptr<Pipeline> {
    throw Error(ExitCode::bad_source, "it", "is not there");
  };
  Session session(std::move(options), registry());
  const auto busy = [&](auto request) {
    return wait_for([&](Reply reply) { request(session, std::move(reply)); }).fault != Status::none;
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

TEST_F(SessionTest, AnswersEverythingWhenItEnds) {
  start("invert");
  std::atomic<int> answered{0};
  for (int i = 0; i < 50; ++i) {
    session_->set_graph(parse_chain(i % 2 ? "invert" : "mosaic", registry()),
                        [&](const Answer&) { ++answered; });
    session_->load("good", [&](const Answer&) { ++answered; });
  }
  session_->stop();
  EXPECT_EQ(answered, 100);
  EXPECT_FALSE(session_->post(Pause{}));
}

}  // namespace
}  // namespace lensd
