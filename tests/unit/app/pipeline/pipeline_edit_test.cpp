// Editing the graph of a running pipeline: applied changes, rejected changes, and the reported graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "app/pipeline/pipeline.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"

namespace lensd {
namespace {

PipelineOptions paced_options(const char* chain, bool paused) {
  PipelineOptions o;
  o.executor = {.threads = 2, .frames = 6};
  o.graph = parse_chain(chain, registry());
  o.paced = true, o.paused = paused;
  return o;
}

std::unique_ptr<Source> small_source(int64_t frames) {
  return std::make_unique<SyntheticSource>(Extent{64, 48}, frames);
}

/// Waits until all posted commands are applied and planned. Returns false if that takes longer than 30 s.
bool settled(Pipeline& pipeline, uint64_t mark) {
  pipeline.post(EditMark{mark});
  return eventually([&] {
    const PipelineStatus status = pipeline.status();
    return status.edit_mark == mark && !status.planning;
  });
}

std::vector<uint8_t> bytes(const Frame& frame) {
  std::vector<uint8_t> all;
  const ConstImageRef image = frame.image();
  for (int y = 0; y < image.height(); ++y)
    all.insert(all.end(), image.row(y), image.row(y) + image.row_bytes());
  return all;
}

/// Waits for the next published frame. Returns its bytes.
std::vector<uint8_t> shown(Pipeline& pipeline) {
  Frame frame;
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(frame = pipeline.take_newest()); }));
  return frame ? bytes(frame) : std::vector<uint8_t>();
}

TEST(PipelineEdit, ARejectedParameterThatNeedsAPlanIsRevertedCompletely) {
  Pipeline pipeline(small_source(100), paced_options("convolve,invert", true), registry());
  pipeline.start();
  pipeline.post(SetParam{"convolve", "compose", std::string("nonsense")});
  ASSERT_TRUE(settled(pipeline, 1));
  const auto notices = pipeline.take_notices();
  EXPECT_TRUE(std::any_of(notices.begin(), notices.end(), [](const Notice& n) { return n.problem; }));
  const ParamSpec& compose = *registry().find("convolve")->schema().find("compose");
  EXPECT_EQ(value_of(*pipeline.graph()->graph.find("convolve"), compose), compose.default_value);
  pipeline.post(SetEnabled{"invert", false});
  ASSERT_TRUE(settled(pipeline, 2));
  EXPECT_FALSE(pipeline.graph()->graph.find("invert")->enabled) << "later changes still work";
  pipeline.post(SetParam{"convolve", "compose", std::string("gaussian(1.2), sharpen")});
  ASSERT_TRUE(settled(pipeline, 3));
  EXPECT_NE(value_of(*pipeline.graph()->graph.find("convolve"), compose), compose.default_value);
}

TEST(PipelineEdit, AKernelThatIsTooLargeForTheCompositionIsRefused) {
  Pipeline pipeline(small_source(100), paced_options("convolve=compose=kernel+box(3)", true), registry());
  pipeline.start();
  const Matrix wide{1, 15, std::vector<double>(15, 1)}, narrow{1, 3, {1, 1, 1}};
  const ParamSpec& kernel = *registry().find("convolve")->schema().find("kernel");
  const auto current = [&] { return value_of(*pipeline.graph()->graph.find("convolve"), kernel); };
  pipeline.post(SetParam{"convolve", "kernel", wide});
  ASSERT_TRUE(settled(pipeline, 1));
  const auto notices = pipeline.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_TRUE(notices.back().text.starts_with("convolve: compose: the composed kernel is larger than"))
      << notices.back().text;
  EXPECT_EQ(current(), kernel.default_value);
  pipeline.post(SetParam{"convolve", "kernel", narrow});
  ASSERT_TRUE(settled(pipeline, 2));
  EXPECT_EQ(current(), ParamValue(narrow));
}

TEST(PipelineEdit, ARefusedParameterNamesNoLineOfTheFile) {
  PipelineOptions options = paced_options("convolve,invert", true);
  options.graph.nodes[0].where = "a.toml:3:1";
  Pipeline pipeline(small_source(100), options, registry());
  pipeline.start();
  pipeline.post(SetParam{"convolve", "compose", std::string("nonsense")});
  ASSERT_TRUE(settled(pipeline, 1));
  const auto notices = pipeline.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_TRUE(notices.back().text.starts_with("convolve: compose: 'nonsense' is not a kernel"))
      << notices.back().text;
}

TEST(PipelineEdit, SoloShowsANodeWithoutChangingTheGraph) {
  Pipeline pipeline(small_source(100), paced_options("invert,mosaic=block=32", true), registry());
  Pipeline only(small_source(100), paced_options("invert", true), registry());
  pipeline.start(), only.start();
  const auto whole = shown(pipeline), wanted = shown(only);
  ASSERT_NE(whole, wanted);
  pipeline.post(Solo{"invert"});
  ASSERT_TRUE(settled(pipeline, 1));
  EXPECT_EQ(shown(pipeline), wanted);
  EXPECT_EQ(pipeline.graph()->graph.output, "mosaic");
  pipeline.post(Solo{"gone"});
  ASSERT_TRUE(settled(pipeline, 2));
  EXPECT_EQ(shown(pipeline), whole) << "a missing node is ignored";
}

TEST(PipelineEdit, ChangesShowAtTheEndOfAFileAsWhilePaused) {
  Pipeline pipeline(small_source(3), paced_options("invert", false), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  const auto last = shown(pipeline);
  pipeline.post(SetEnabled{"invert", false});
  EXPECT_NE(shown(pipeline), last);
}

/// Posts a graph. Returns the problem of its plan, or an empty string if the pipeline runs it.
std::string outcome(Pipeline& pipeline, const GraphDesc& graph, uint64_t request) {
  pipeline.post(SetGraph{graph, request});
  std::string problem = "no outcome";
  eventually([&] {
    for (const PlanOutcome& outcome : pipeline.take_outcomes())
      if (outcome.request == request) return problem = outcome.problem, true;
    return false;
  });
  return problem;
}

/// A running pipeline, and a sender that gives up its command while the command is being planned: on_change
/// runs on the process thread between the request for the plan and its result.
struct GivenUpCommand {
  const std::shared_ptr<CommandClaim> claim = std::make_shared<CommandClaim>();
  std::atomic<bool> gave_up{false};
  std::unique_ptr<Pipeline> pipeline;

  explicit GivenUpCommand(const char* chain) {
    PipelineOptions o = paced_options(chain, false);
    o.on_change = [this] {
      if (pipeline && pipeline->status().planning) gave_up = claim->give_up();
    };
    pipeline = std::make_unique<Pipeline>(small_source(1'000'000), o, registry());
    pipeline->start();
  }
  ~GivenUpCommand() { pipeline->stop(); }
  /// Posts the command, which must have the claim, and waits until its plan has been discarded.
  bool discarded(Command command) {
    pipeline->post(std::move(command));
    return eventually([&] { return gave_up.load(); }) &&
           eventually([&] { return !pipeline->status().planning; });
  }
};

TEST(PipelineEdit, AGraphWhoseSenderGaveUpNeverRuns) {
  GivenUpCommand sender("invert");
  Pipeline& pipeline = *sender.pipeline;
  SetGraph change{parse_chain("mosaic", registry())};
  change.request = 5, change.claim = sender.claim, change.precision = Precision::sixteen;
  ASSERT_TRUE(sender.discarded(change));
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "invert");
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "invert");
  EXPECT_EQ(pipeline.status().precision, Precision::automatic);
  EXPECT_FALSE(sender.claim->take());
  // Later changes take effect.
  EXPECT_EQ(outcome(pipeline, parse_chain("mosaic", registry()), 6), "");
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "mosaic");
}

TEST(PipelineEdit, ValuesWhoseSenderGaveUpNeverTakeEffect) {
  GivenUpCommand sender("crop");
  Pipeline& pipeline = *sender.pipeline;
  const std::string before = to_chain(pipeline.graph()->requested);
  Batch change{.changes = {SetParam{"crop", "width", ParamValue(int64_t{20})}}};
  change.request = 5, change.claim = sender.claim, change.precision = Precision::sixteen;
  ASSERT_TRUE(sender.discarded(change));
  EXPECT_EQ(to_chain(pipeline.graph()->graph), before);
  EXPECT_EQ(to_chain(pipeline.graph()->requested), before);
  EXPECT_EQ(pipeline.status().precision, Precision::automatic);
}

TEST(PipelineEdit, AppliedValuesCannotBeGivenUp) {
  Pipeline pipeline(small_source(100), paced_options("levels", true), registry());
  pipeline.start();
  Batch change{.changes = {SetParam{"levels", "brightness", ParamValue(0.5)}}};
  change.claim = std::make_shared<CommandClaim>();
  pipeline.post(change);
  ASSERT_TRUE(settled(pipeline, 1));
  EXPECT_FALSE(change.claim->give_up());
}

TEST(PipelineEdit, AGraphWhoseSenderGaveUpDoesNotRunWithALaterChange) {
  const auto claim = std::make_shared<CommandClaim>();
  std::atomic<bool> gave_up{false};
  PipelineOptions o = paced_options("invert", false);
  Pipeline* running = nullptr;
  o.on_change = [&] {
    if (!running || gave_up || !running->status().planning) return;
    gave_up = claim->give_up();
    running->post(Bypass{true});
  };
  Pipeline pipeline(small_source(1'000'000), o, registry());
  running = &pipeline;
  pipeline.start();
  SetGraph change{parse_chain("mosaic", registry())};
  change.request = 5, change.claim = claim;
  pipeline.post(change);
  ASSERT_TRUE(eventually([&] { return pipeline.status().bypass && !pipeline.status().planning; }));
  pipeline.post(Bypass{false});
  ASSERT_TRUE(eventually([&] { return !pipeline.status().bypass && !pipeline.status().planning; }));
  EXPECT_TRUE(gave_up);
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "invert");
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "invert");
  pipeline.stop();
}

/// Returns a graph of `count` nodes with names that begin with `prefix`.
GraphDesc many_nodes(size_t count, const std::string& prefix) {
  GraphDesc graph;
  for (size_t i = 0; i < count; ++i)
    graph.nodes.push_back({.id = prefix + std::to_string(i), .filter = "invert"});
  return graph;
}

TEST(PipelineEdit, ManyNodeNamesInOneRunDoNotPreventLaterChanges) {
  Pipeline pipeline(small_source(100), paced_options("invert", true), registry());
  pipeline.start();
  EXPECT_NE(outcome(pipeline, many_nodes(600, "x"), 1).find("too many"), std::string::npos);
  for (uint64_t request = 2; request < 10; ++request)
    EXPECT_EQ(outcome(pipeline, many_nodes(256, std::string(request, 'n')), request), "");
  EXPECT_EQ(pipeline.graph()->graph.nodes.size(), 256u);
}

TEST(PipelineEdit, APlannerWithoutMemoryReportsItAndGoesOn) {
  std::vector<FilterEntry> filters(registry().filters.begin(), registry().filters.end());
  for (FilterEntry& entry : filters)
    if (entry.schema().name == "mosaic")
      entry.make = []() -> std::unique_ptr<Filter> { throw std::bad_alloc(); };
  Registry failing = registry();
  failing.filters = filters;
  Pipeline pipeline(small_source(100), paced_options("invert", true), failing);
  pipeline.start();
  EXPECT_NE(outcome(pipeline, parse_chain("mosaic", registry()), 1).find("cannot be planned"),
            std::string::npos);
  EXPECT_EQ(outcome(pipeline, parse_chain("median", registry()), 2), "");
}

/// A source whose pictures become smaller after the first 20.
class ShrinkingSource final : public Source {
 public:
  const SourceInfo& info() const override { return large_.info(); }
  FrameOutcome next(Picture& out) override { return (count_++ < 20 ? large_ : small_).next(out); }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override {}

 private:
  SyntheticSource large_{{64, 48}, 1000}, small_{{16, 12}, 1000};
  int count_ = 0;
};

TEST(PipelineEdit, AFileThatNoLongerFitsTheGraphIsShownWithoutIt) {
  PipelineOptions o = paced_options("resize=width=64:height=48,invert", false);
  o.graph.nodes.push_back({.id = "difference", .filter = "difference", .inputs = {"invert", kSourceNode}});
  o.graph.output = "difference";
  {
    Pipeline pipeline(std::make_unique<ShrinkingSource>(), o, registry());
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().processed > 25 || pipeline.status().failed; }));
    EXPECT_NO_THROW(pipeline.check());
    EXPECT_EQ(pipeline.executor().plan()->output.extent, (Extent{16, 12}));
    const auto notices = pipeline.take_notices();
    EXPECT_TRUE(std::ranges::any_of(
        notices, [](const Notice& n) { return n.problem && n.text.starts_with("shown without the graph"); }));
  }
  o.paced = false;
  Pipeline pipeline(std::make_unique<ShrinkingSource>(), o, registry());
  pipeline.start();
  while (Frame frame = pipeline.next_frame()) frame.wait_ready();
  EXPECT_THROW(pipeline.check(), Error) << "a recording does not go on with other pictures";
}

}  // namespace
}  // namespace lensd
