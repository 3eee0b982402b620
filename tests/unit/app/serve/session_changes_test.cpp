// Session: reloads and graph changes while the pipeline cannot take commands. The pipeline of these tests is
// not started until the test does it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "app/serve/session.hpp"
#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class SessionChangesTest : public ::testing::Test {
 protected:
  void open(std::chrono::nanoseconds plan_timeout = std::chrono::seconds(30)) {
    SessionOptions options;
    options.captures = folder_ / "captures";
    options.layers.files = {folder_ / "a.toml"};
    options.load = [](const std::string&, Reply reply) { reply({Status::refused, "unexpected"}); };
    options.plan_timeout = plan_timeout;
    session_ = std::make_unique<Session>(std::move(options), registry());
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = parse_chain("mosaic", registry());
    o.paced = true;
    pipeline_ = std::make_shared<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                           registry());
    session_->attach(pipeline_, "good");
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
  void set_graph(const std::string& chain) {
    answered_ = false;
    session_->set_graph(parse_chain(chain, registry()),
                        [this](Response response) { response_ = std::move(response), answered_ = true; });
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

}  // namespace
}  // namespace lensd
