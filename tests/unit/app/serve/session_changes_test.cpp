// Session: reloads and graph changes while the pipeline cannot take commands. The pipeline of these tests is
// not started until the test does it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "app/serve/session.hpp"
#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/control/properties.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class SessionChangesTest : public ::testing::Test {
 protected:
  void open(std::chrono::nanoseconds plan_timeout = std::chrono::seconds(30),
            const std::string& chain = "mosaic") {
    SessionOptions options;
    options.captures = folder_ / "captures";
    options.layers.files = {folder_ / "a.toml"};
    options.load = [](const std::string&, Reply reply) { reply({Status::refused, "unexpected"}); };
    options.plan_timeout = plan_timeout;
    session_ = std::make_unique<Session>(std::move(options), registry());
    pipeline_ = make_pipeline(chain);
    session_->attach(pipeline_, "good");
  }
  static std::shared_ptr<Pipeline> make_pipeline(const std::string& chain) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = parse_chain(chain, registry());
    o.paced = true;
    return std::make_shared<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                      registry());
  }
  void TearDown() override {
    session_->stop();
    pipeline_->stop();
  }

  /// Posts commands until the queue has `places` free places.
  void fill_queue(int places) {
    int free_places = 0;
    while (session_->post(EditMark{1})) ++free_places;
    ASSERT_GT(free_places, places);
    pipeline_ = nullptr;
    open();
    for (int i = 0; i < free_places - places; ++i) ASSERT_TRUE(session_->post(EditMark{1}));
  }

  void write_config(const std::string& text) { std::ofstream(folder_ / "a.toml") << text; }
  /// Begins a request. Its response is in response_ when answered_ is true.
  void reload() {
    answered_ = false;
    session_->reload([this](Response response) { response_ = std::move(response), answered_ = true; });
  }
  /// Runs a graph that the planner refuses if the crop changes the size.
  void run_blend_of_crop() {
    open();
    pipeline_->start();
    write_config(
        "[[node]]\nfilter = \"crop\"\n[[node]]\nfilter = \"blend\"\ninputs = [\"source\", \"crop\"]\n");
    reload();
    ASSERT_TRUE(answered());
    ASSERT_EQ(response_.error, "");
  }
  void set_graph(const std::string& chain) {
    answered_ = false;
    session_->set_graph(parse_chain(chain, registry()),
                        [this](Response response) { response_ = std::move(response), answered_ = true; });
  }
  void set(const std::string& property, const Json& value) { set_all({{property, value}}); }
  void set_all(const PropertyValues& values) {
    answered_ = false;
    set_properties(*session_, values,
                   [this](Response response) { response_ = std::move(response), answered_ = true; });
  }
  Json value(const std::string& property) const {
    return property_value(ControlView::of(*session_), property)->value;
  }
  bool answered() {
    return eventually([this] {
      session_->pump();
      return answered_.load();
    });
  }
  /// Returns true when the pipeline has applied everything that was posted before.
  bool applied(uint64_t mark) {
    pipeline_->post(EditMark{mark});
    return eventually([&] {
      const PipelineStatus status = pipeline_->status();
      return status.edit_mark == mark && !status.planning;
    });
  }
  std::string chain() const { return to_chain(pipeline_->graph()->graph); }

  TemporaryFolder folder_;
  std::shared_ptr<Pipeline> pipeline_;
  std::unique_ptr<Session> session_;
  std::atomic<bool> answered_{false};
  Response response_;
};

constexpr const char* kNewConfig =
    "[graph]\nprecision = \"16\"\n[colour]\nknee = 1.5\n[[node]]\nfilter = \"invert\"\n";

TEST_F(SessionChangesTest, AReloadIsOneCommand) {
  open();
  fill_queue(1);
  write_config("[graph]\nprecision = \"16\"\n[colour]\nknee = 1.5\n[[node]]\nfilter = \"mosaic\"\n");
  reload();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the reload takes the last place
  pipeline_->start();
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(pipeline_->status().precision, Precision::sixteen);
  EXPECT_EQ(pipeline_->status().colour.knee, 1.5);
}

TEST_F(SessionChangesTest, AReloadThatDoesNotFitChangesNothing) {
  open();
  fill_queue(0);
  write_config(kNewConfig);
  reload();
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.status, Status::busy) << response_.error;
  pipeline_->start();
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(chain(), "mosaic");
  EXPECT_EQ(pipeline_->status().precision, Precision::automatic);
  EXPECT_EQ(pipeline_->status().colour, ColourSettings{});
  // The next reload applies all of it, because nothing counts as applied.
  reload();
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  ASSERT_TRUE(applied(3));
  EXPECT_EQ(chain(), "invert");
  EXPECT_EQ(pipeline_->status().precision, Precision::sixteen);
}

TEST_F(SessionChangesTest, AReloadThatFindsTheQueueFullCanBeTriedAgain) {
  open();  // not started, so that the first edit waits for its plan
  write_config("");
  const auto entered = std::make_shared<std::atomic<bool>>(false);
  const auto full = std::make_shared<std::atomic<bool>>(false);
  const auto edit = [entered](GraphDesc&) -> Response {
    *entered = true;
    return {};
  };
  const auto reply = [full](const Response& response) {
    if (response.status == Status::busy) *full = true;
  };
  session_->edit_graph(edit, reply);
  ASSERT_TRUE(eventually([&] { return entered->load(); }));
  while (!*full) session_->edit_graph(edit, reply);
  const auto replies = std::make_shared<std::atomic<int>>(0);
  EXPECT_FALSE(session_->try_reload([replies](const Response&) { ++*replies; }));
  reload();
  EXPECT_TRUE(answered_);
  EXPECT_EQ(response_.status, Status::busy) << response_.error;
  EXPECT_EQ(*replies, 0);
  pipeline_->start();
  EXPECT_TRUE(eventually([&] {
    session_->pump();
    return session_->try_reload([replies](const Response&) { ++*replies; });
  })) << "a change of the configuration is lost";
  EXPECT_TRUE(eventually([&] {
    session_->pump();
    return *replies == 1;
  }));
}

TEST_F(SessionChangesTest, AKeyThatReturnsToItsFirstValueNeedsNoRestart) {
  open();
  pipeline_->start();
  const auto client = session_->hub().subscribe();
  client->want_events();
  for (const bool differs : {true, false}) {
    write_config(differs ? "[http]\nport = 8081\n" : "");
    reload();
    ASSERT_TRUE(answered());
    ASSERT_EQ(response_.error, "");
    std::string events;
    for (const std::string& event : client->take(Subscriber::kMaxEvents)) events += event;
    EXPECT_EQ(events.find("after a restart: http.port") != std::string::npos, differs) << events;
  }
}

TEST_F(SessionChangesTest, ARefusedReloadKeepsTheSettings) {
  open();
  pipeline_->start();
  write_config(
      "[graph]\nprecision = \"16\"\n[colour]\nknee = 1.5\n[[node]]\nfilter = \"crop\"\nwidth = 20\n"
      "[[node]]\nfilter = \"blend\"\ninputs = [\"source\", \"crop\"]\n");
  reload();
  ASSERT_TRUE(answered());
  EXPECT_NE(response_.error.find("blend"), std::string::npos) << response_.error;
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(chain(), "mosaic");
  EXPECT_EQ(pipeline_->status().precision, Precision::automatic);
  EXPECT_EQ(pipeline_->status().colour, ColourSettings{});
}

TEST_F(SessionChangesTest, AValueThatNeedsAPlanIsAnsweredWithThePlan) {
  run_blend_of_crop();
  set("crop.width", 20);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.status, Status::refused);
  EXPECT_NE(response_.error.find("blend"), std::string::npos) << response_.error;
  EXPECT_EQ(value("crop.width"), 0) << "the running value";
  set("crop.width", 64);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  EXPECT_EQ(value("crop.width"), 64);
}

TEST_F(SessionChangesTest, AnOpenChangeIsRefusedWhenTheSourceChanges) {
  open(std::chrono::seconds(30), "crop");  // the pipeline is not started, so it plans nothing
  set("crop.width", 20);
  EXPECT_FALSE(answered_);
  session_->attach(make_pipeline("crop"), "other");
  EXPECT_TRUE(answered_);
  EXPECT_EQ(response_.error, "the source was replaced before the change took effect");
  set("crop.width", 30);
  EXPECT_FALSE(answered_);
  session_->stop();
  EXPECT_TRUE(answered_);
  EXPECT_EQ(response_.status, Status::refused);
}

TEST_F(SessionChangesTest, AChangeThatIsNotPlannedInTimeNeverTakesEffect) {
  open(std::chrono::milliseconds(20), "crop");  // not started
  set_all({{"crop.width", 20}, {"precision", 16}});
  EXPECT_EQ(value("crop.width"), 20);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the change could not be planned in time");
  EXPECT_EQ(value("crop.width"), 0);
  pipeline_->start();
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(value("crop.width"), 0);
  EXPECT_EQ(pipeline_->status().precision, Precision::automatic);
}

TEST_F(SessionChangesTest, AChangeWithoutAnOutcomeIsAnswered) {
  open(std::chrono::milliseconds(20), "crop");
  pipeline_->start();
  set("crop.width", 20);
  ASSERT_TRUE(eventually([&] { return !pipeline_->take_outcomes().empty(); })) << "pump() must not see it";
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the planner does not respond; the change may have taken effect");
  EXPECT_EQ(value("crop.width"), 20);
}

TEST_F(SessionChangesTest, SettingsAreAnsweredWithThePlan) {
  open();  // not started
  set("precision", 16);
  EXPECT_FALSE(answered_);
  pipeline_->start();
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  set("colour.knee", 1.5);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(pipeline_->status().precision, Precision::sixteen);
  EXPECT_EQ(pipeline_->status().colour.knee, 1.5);
  set("precision", 16);
  ASSERT_TRUE(answered()) << "nothing changes";
  EXPECT_EQ(response_.error, "");
}

TEST_F(SessionChangesTest, BypassIsAnsweredWithThePlan) {
  open();  // not started
  set("bypass", true);
  EXPECT_FALSE(answered_);
  pipeline_->start();
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "");
  EXPECT_EQ(value("bypass"), true);
  EXPECT_FALSE(contains(pipeline_->graph()->planned, std::string("mosaic"), &PlannedNode::id))
      << "before the plan runs";
  set("bypass", true);
  ASSERT_TRUE(answered()) << "nothing changes";
  EXPECT_EQ(response_.error, "");
}

TEST_F(SessionChangesTest, ABypassThatIsRefusedChangesNothing) {
  run_blend_of_crop();
  for (const auto& [name, json] : PropertyValues{{"bypass", true}, {"crop.width", 20}}) {
    set(name, json);
    ASSERT_TRUE(answered());
    EXPECT_EQ(response_.error, "") << "the bypass needs no plan of the graph";
  }
  set("bypass", false);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.status, Status::refused);
  EXPECT_NE(response_.error.find("blend"), std::string::npos) << response_.error;
  EXPECT_EQ(value("bypass"), true);
}

TEST_F(SessionChangesTest, ABypassThatIsNotPlannedInTimeNeverTakesEffect) {
  open(std::chrono::milliseconds(20));  // not started
  set("bypass", true);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the change could not be planned in time");
  pipeline_->start();
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(value("bypass"), false);
}

TEST_F(SessionChangesTest, SettingsAndValuesChangeTogetherOrNotAtAll) {
  run_blend_of_crop();
  set_all({{"crop.width", 20}, {"precision", 16}, {"colour.knee", 1.5}});
  ASSERT_TRUE(answered());
  EXPECT_NE(response_.error.find("blend"), std::string::npos) << response_.error;
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(pipeline_->status().precision, Precision::automatic);
  EXPECT_EQ(pipeline_->status().colour, ColourSettings{});
  EXPECT_EQ(value("crop.width"), 0);
}

TEST_F(SessionChangesTest, AChangeOfAFailedSourceIsAnswered) {
  open(std::chrono::seconds(30), "crop");
  PipelineOptions o;
  o.executor = {.threads = 1, .frames = 6};
  o.graph = parse_chain("crop", registry());
  pipeline_ =
      std::make_shared<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 400, 3), o, registry());
  session_->attach(pipeline_, "fails");
  pipeline_->start();
  ASSERT_TRUE(eventually([&] { return pipeline_->status().failed; }));
  set("crop.width", 20);
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the source has failed");
}

TEST_F(SessionChangesTest, ARefusedEditNamesNoLineOfTheFile) {
  open();
  pipeline_->start();
  write_config(
      "[[node]]\nfilter = \"crop\"\nwidth = 20\n[[node]]\nfilter = \"crop\"\nid = \"other\"\n"
      "width = 20\ninput = \"source\"\n[[node]]\nfilter = \"blend\"\ninputs = [\"crop\", \"other\"]\n");
  reload();
  ASSERT_TRUE(answered());
  ASSERT_EQ(response_.error, "");
  answered_ = false;
  session_->edit_graph(
      [](GraphDesc& graph) -> Response {
        graph.find("blend")->inputs[1] = "source";
        return {};
      },
      [this](Response response) { response_ = std::move(response), answered_ = true; });
  ASSERT_TRUE(answered());
  EXPECT_TRUE(response_.error.starts_with("blend: its inputs differ in size")) << response_.error;
}

TEST_F(SessionChangesTest, AGraphThatTimedOutNeverRuns) {
  open(std::chrono::milliseconds(20));
  set_graph("invert");
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the graph could not be planned in time");
  pipeline_->start();
  ASSERT_TRUE(applied(2));
  EXPECT_EQ(chain(), "mosaic");
}

TEST_F(SessionChangesTest, AGraphWithoutAnOutcomeIsAnswered) {
  open(std::chrono::seconds(1));
  pipeline_->start();
  set_graph("invert");
  ASSERT_TRUE(eventually([&] { return !pipeline_->take_outcomes().empty(); })) << "pump() must not see it";
  ASSERT_TRUE(answered());
  EXPECT_EQ(response_.error, "the planner does not respond; the change may have taken effect");
  EXPECT_EQ(chain(), "invert");
}

}  // namespace
}  // namespace lensd
