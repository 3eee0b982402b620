// Plans that are refused or obsolete when they arrive, because other changes came meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

/// Waits until all posted commands are applied and planned. Returns false if that takes longer than 30 s.
bool all_planned(Pipeline& pipeline) {
  const uint64_t ticket = pipeline.post(EditMark{1});
  return eventually([&] {
    const PipelineStatus status = pipeline.status();
    return status.applied >= ticket && !status.planning;
  });
}

// Commands that are posted before the start are applied together: the first plan is in preparation when the
// next command comes.

TEST(PipelinePlans, AViewThatFollowsARefusedGraphIsPlanned) {
  const ScopeRequest scope{"invert", ScopeKind::histogram};
  Pipeline pipeline(source(100, {64, 48}), paused("invert"), registry());
  pipeline.post(SetGraph{parse_chain("stabilize", registry())});
  pipeline.post(SetScopes{{scope}});
  pipeline.start();
  ScopeReading reading;
  EXPECT_TRUE(eventually([&] { return pipeline.read_scope(scope, reading); })) << "the scope has no counts";
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "invert");
  EXPECT_EQ(pipeline.take_notices().size(), 1u) << "refused once";
}

TEST(PipelinePlans, AGraphThatWasRefusedDoesNotRunBypassed) {
  Pipeline pipeline(source(100, {64, 48}), paused("invert"), registry());
  pipeline.post(SetGraph{parse_chain("stabilize", registry())});
  pipeline.post(Bypass{true});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 0; }));
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "invert");
  EXPECT_TRUE(pipeline.status().bypass);
  EXPECT_EQ(pipeline.executor().plan()->find("invert"), nullptr) << "the graph is not bypassed";
}

TEST(PipelinePlans, AViewIsPlannedIfAGraphOfTheSamePlanIsRefused) {
  const ScopeRequest scope{"invert", ScopeKind::histogram};
  Pipeline pipeline(source(100, {64, 48}), paused("invert"), registry());
  pipeline.post(SetViews{{kSourceNode}});  // while this plan is in preparation, the others are combined
  pipeline.post(SetScopes{{scope}});
  pipeline.post(SetGraph{parse_chain("stabilize", registry())});
  pipeline.start();
  ScopeReading reading;
  EXPECT_TRUE(eventually([&] { return pipeline.read_scope(scope, reading); })) << "the scope has no counts";
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "invert");
}

TEST(PipelinePlans, ARenamedNodeIsStillSoloedViewedAndMeasured) {
  const auto compared_with = [](const char* node) {
    return ScopeRequest{kSourceNode, ScopeKind::compare, node};
  };
  Pipeline pipeline(source(100, {64, 48}), paused("invert@a,mosaic"), registry());
  const auto show = [&](const char* node) {
    pipeline.post(SetViews{{node}});
    pipeline.post(SetScopes{{compared_with(node)}});
    pipeline.post(Solo{node});
  };
  show("a");
  pipeline.start();
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(pipeline.executor().plan()->find("mosaic"), nullptr) << "soloed";
  pipeline.post(SetGraph{parse_chain("invert@b,mosaic", registry())});
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(pipeline.executor().plan()->find("mosaic"), nullptr) << "no longer soloed";
  ScopeReading reading;
  EXPECT_TRUE(eventually([&] { return pipeline.read_scope(compared_with("b"), reading); }));
  Frame frame;
  EXPECT_TRUE(eventually([&] {
    if (Frame newest = pipeline.take_newest()) frame = std::move(newest);
    return frame && frame.find_image("b") >= 0;
  }));
  const uint64_t version = pipeline.graph()->version;
  show("b");
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(pipeline.graph()->version, version) << "planned twice";
}

/// Makes planner threads wait while they make a mosaic.
struct PlannerGate {
  std::atomic<bool> closed{false}, entered{false};
  std::atomic<std::thread::id> process_thread;
  void set(bool wait) {
    closed = wait;
    closed.notify_all();
  }
};
PlannerGate planner_gate;

std::unique_ptr<Filter> make_mosaic_behind_gate() {
  if (planner_gate.closed && std::this_thread::get_id() != planner_gate.process_thread.load()) {
    planner_gate.entered = true;
    planner_gate.closed.wait(true);
  }
  return registry().find("mosaic")->make();
}

/// Returns the program's registry with a mosaic that waits at the gate. `filters` holds its entries.
Registry gated_registry(std::vector<FilterEntry>& filters) {
  filters.assign(registry().filters.begin(), registry().filters.end());
  for (FilterEntry& entry : filters)
    if (entry.schema().name == "mosaic") entry.make = &make_mosaic_behind_gate;
  Registry gated = registry();
  gated.filters = filters;
  planner_gate.entered = false;
  return gated;
}

/// Opens the gate, because ~Pipeline() would otherwise wait after a failed assertion. Create it after the
/// pipeline.
struct GateOpener {
  ~GateOpener() { planner_gate.set(false); }
};

/// A source whose pictures are small while `small` is true.
class SwitchedSource final : public Source {
 public:
  explicit SwitchedSource(const std::atomic<bool>& small) : small_now_(small) {}
  const SourceInfo& info() const override { return large_.info(); }
  FrameOutcome next(Picture& out) override { return (small_now_ ? small_ : large_).next(out); }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override {}

 private:
  const std::atomic<bool>& small_now_;
  SyntheticSource large_{{64, 48}, 1'000'000}, small_{{16, 12}, 1'000'000};
};

TEST(PipelinePlans, APlanThatANewFormatOvertookIsNotUsed) {
  std::vector<FilterEntry> filters;
  const Registry gated = gated_registry(filters);
  std::atomic<bool> small{false}, overtaken{false};
  Pipeline* running = nullptr;
  PipelineOptions o = paced("invert");
  o.on_change = [&] {
    planner_gate.process_thread = std::this_thread::get_id();
    if (running && to_chain(running->graph()->graph) == "mosaic") overtaken = true;
  };
  Pipeline pipeline(std::make_unique<SwitchedSource>(small), o, gated);
  GateOpener opener;
  running = &pipeline;
  pipeline.start();
  ASSERT_TRUE(all_planned(pipeline));

  planner_gate.set(true);
  pipeline.post(SetGraph{.graph = parse_chain("mosaic", registry()), .request = 1});
  ASSERT_TRUE(eventually([&] { return planner_gate.entered.load(); }));
  const uint64_t ticket =
      pipeline.post(SetGraph{.graph = parse_chain("grayscale", registry()), .request = 2});
  ASSERT_TRUE(eventually([&] { return pipeline.status().applied >= ticket; }));
  for (const bool now_small : {true, false}) {
    small = now_small;
    ASSERT_TRUE(eventually([&] {
      const Frame frame = pipeline.take_newest();
      return frame && (frame.image().format.extent == Extent{16, 12}) == now_small;
    }));
  }
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "grayscale");
  const std::vector<PlanOutcome> outcomes = pipeline.take_outcomes();
  EXPECT_EQ(outcomes.size(), 2u) << "the new format's plan has both graphs; the planner may hang";
  for (const PlanOutcome& outcome : outcomes) EXPECT_EQ(outcome.problem, "");
  planner_gate.set(false);
  ASSERT_TRUE(eventually([&] { return !pipeline.status().planning; }));
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "grayscale");
  EXPECT_TRUE(pipeline.take_outcomes().empty()) << "reported twice";
  EXPECT_FALSE(overtaken) << "frames were processed with the earlier graph again";
  pipeline.stop();
  pipeline.check();
}

TEST(PipelinePlans, AnOutcomeIsReportedAfterTheStatus) {
  std::atomic<bool> reported{false}, early{false};
  Pipeline* running = nullptr;
  PipelineOptions o = paced("invert");
  o.on_change = [&] {
    if (!running || running->take_outcomes().empty()) return;
    if (running->status().planning) early = true;
    reported = true;
  };
  Pipeline pipeline(source(1'000'000, {64, 48}), o, registry());
  running = &pipeline;
  pipeline.start();
  pipeline.post(SetGraph{.graph = parse_chain("mosaic", registry()), .request = 1});
  EXPECT_TRUE(eventually([&] { return reported.load(); }));
  EXPECT_FALSE(early) << "a client reads the status of the earlier plan";
  pipeline.stop();
  pipeline.check();
}

TEST(PipelinePlans, ALiveChangeIsKeptByAPlanThatWasRequestedBefore) {
  std::vector<FilterEntry> filters;
  const Registry gated = gated_registry(filters);
  planner_gate.process_thread = std::thread::id();
  const ParamValue wanted = 2.0;
  Pipeline* running = nullptr;
  std::atomic<bool> changed{false}, lost{false};
  const auto gamma = [&running] {  // call on the process thread
    const PlanNode* const levels = running->executor().plan()->find("levels");
    return levels->filter->schema().find("gamma")->get(levels->filter->params());
  };
  PipelineOptions o = paced("levels");
  o.on_change = [&] {
    if (!running) return;
    if (gamma() == wanted)
      changed = true;
    else if (changed)
      lost = true;
  };
  Pipeline pipeline(source(1'000'000, {64, 48}), o, gated);
  GateOpener opener;
  running = &pipeline;
  pipeline.start();

  planner_gate.set(true);
  pipeline.post(SetGraph{parse_chain("levels,mosaic", registry())});
  ASSERT_TRUE(eventually([&] { return planner_gate.entered.load(); }));
  pipeline.post(SetParam{"levels", "gamma", wanted});
  ASSERT_TRUE(eventually([&] { return changed.load(); })) << "the running plan changes at once";
  planner_gate.set(false);
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "levels=gamma=2,mosaic");
  EXPECT_FALSE(lost) << "frames were processed with the earlier value again";
  pipeline.stop();
  pipeline.check();
}

TEST(PipelinePlans, PassesThatANodeNoLongerHasAreNotTimed) {
  Pipeline pipeline(source(100, {64, 48}), paused("threshold=otsu=true"), registry());
  const auto timed = [&pipeline] {
    std::string passes;
    for (const PassStats& row : pipeline.profiler().snapshot())
      if (row.active && row.node == "threshold") passes += row.pass + " ";
    return passes;
  };
  pipeline.start();
  EXPECT_EQ(timed(), "histogram otsu threshold ");
  pipeline.post(SetParam{"threshold", "otsu", ParamValue(false)});
  ASSERT_TRUE(all_planned(pipeline));
  EXPECT_EQ(timed(), "threshold ");
}

}  // namespace
}  // namespace lensd
