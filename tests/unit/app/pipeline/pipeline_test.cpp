// app/pipeline with a synthetic source: order, commands at frame boundaries, sinks, pause, seeking and
// steps, scopes, pacing, failures.

#include <gtest/gtest.h>

#include <numeric>
#include <system_error>
#include <thread>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/no_threads.hpp"

namespace lensd {
namespace {

TEST(Pipeline, DeliversEveryFrameInOrder) {
  const auto one = run_all(kChain, 1, 50);
  EXPECT_EQ(one.size(), 50u);
  EXPECT_EQ(one, run_all(kChain, 2, 50));
  EXPECT_EQ(one, run_all(kChain, 5, 50));
  EXPECT_EQ(one[3], one[3 + SyntheticSource::kDistinct]);
  EXPECT_NE(one[3], one[4]);
}

TEST(Pipeline, AThreadThatCannotStartEndsTheRun) {
  Pipeline pipeline(source(50), options(kChain), registry());
  {
    const test::NoThreads no_threads;
    EXPECT_FALSE(pipeline.start());
  }
  EXPECT_FALSE(pipeline.next_frame());
  EXPECT_TRUE(pipeline.status().failed);
  EXPECT_THROW(pipeline.check(), std::system_error);
}

/// Stores the index and hash of every frame, and a handle to the last frame.
class KeepingSink final : public FrameSink {
 public:
  void take(const Frame& frame, const Picture& picture, const PixelAspects&) override {
    EXPECT_TRUE(picture);
    indices.push_back(frame.info.index);
    hashes.push_back(hash(frame.image()));
    kept = frame.share();
  }
  void start(const StartRecord&) override { started_at = static_cast<int64_t>(indices.size()); }
  void stop() override { stopped = true; }
  void stop_soon() noexcept override { stopped_soon = true; }
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {{true, "from the sink"}}; }

  Frame kept;
  std::vector<int64_t> indices;
  std::vector<uint64_t> hashes;
  int64_t started_at = -1;
  bool stopped = false;
  std::atomic<bool> stopped_soon{false};
};

TEST(Pipeline, SinksGetTheSameFramesAsTheConsumer) {
  for (const int64_t limit : {0, 7}) {
    const auto sink = std::make_shared<KeepingSink>();
    PipelineOptions o = options(kChain);
    o.max_frames = limit;
    o.sinks = {sink};
    Pipeline pipeline(source(40), o, registry());
    pipeline.post(StartRecord{});
    pipeline.start();
    std::vector<uint64_t> shown;
    while (const Frame frame = pipeline.next_frame()) shown.push_back(hash(frame.image()));
    pipeline.stop();
    EXPECT_EQ(shown.size(), limit ? 7u : 40u);
    EXPECT_EQ(sink->hashes, shown);
    EXPECT_EQ(sink->indices.front(), 0);
    EXPECT_EQ(sink->started_at, 0);
    EXPECT_TRUE(sink->stopped_soon);
    EXPECT_EQ(hash(sink->kept.image()), shown.back());
    const auto notices = pipeline.take_notices();
    ASSERT_FALSE(notices.empty());
    EXPECT_EQ(notices.front().text, "from the sink");
  }
}

TEST(Pipeline, StopsAfterMaxFrames) {
  PipelineOptions o = options("invert");
  o.max_frames = 7;
  Pipeline pipeline(source(1000), o, registry());
  pipeline.start();
  int64_t frames = 0;
  while (pipeline.next_frame()) ++frames;
  EXPECT_EQ(frames, 7);
}

TEST(Pipeline, ParametersApplyAtAFrameBoundary) {
  Pipeline pipeline(source(2000), options("invert,mosaic=block=4"), registry());
  pipeline.start();
  for (int i = 0; i < 500; ++i) {
    pipeline.post(SetParam{"mosaic", "block", ParamValue(int64_t{2 + i % 30})});
    pipeline.post(SetParam{"mosaic", "block", ParamValue(int64_t{100000})});
    pipeline.post(SetEnabled{"invert", i % 2 == 0});
    const Frame frame = pipeline.next_frame();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame.info.index, i) << "a change must not lose a frame";
  }
  bool refused = false;
  for (const auto& n : pipeline.take_notices())
    refused = refused || (n.problem && n.text.find("block = 100000") != std::string::npos);
  EXPECT_TRUE(refused);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, TheNewestFrameIsTakenAndOlderOnesAreNotShown) {
  Pipeline pipeline(source(100), paused("invert"), registry());
  const auto processed = [&](uint64_t count) {
    return eventually([&] { return pipeline.status().processed == count; });
  };
  // The status counts a frame before it is published. The edit mark is applied after that.
  const auto published = [&](uint64_t frames) {
    if (!processed(frames)) return false;
    pipeline.post(EditMark{frames});
    return eventually([&] { return pipeline.status().edit_mark == frames; });
  };
  pipeline.start();
  ASSERT_TRUE(published(1));
  EXPECT_EQ(pipeline.take_newest().info.index, 0);
  EXPECT_FALSE(pipeline.take_newest());
  EXPECT_EQ(pipeline.status().not_shown, 0u);

  pipeline.post(Step{2});
  ASSERT_TRUE(published(3));
  EXPECT_EQ(pipeline.take_newest().info.index, 2);
  EXPECT_EQ(pipeline.status().not_shown, 1u) << "frame 1";
  EXPECT_FALSE(pipeline.take_newest());
  EXPECT_EQ(pipeline.status().not_shown, 1u);

  pipeline.post(Step{5});
  ASSERT_TRUE(published(8));
  EXPECT_EQ(pipeline.take_newest().info.index, 7);
  EXPECT_EQ(pipeline.status().not_shown, 5u) << "frame 1 and 3 to 6, most of which the queue had no room for";
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, EndsEarlyAfterTheQueuedFrames) {
  Pipeline pipeline(source(100'000), options("invert"), registry());
  pipeline.start();
  for (int64_t i = 0; i < 10; ++i) ASSERT_EQ(pipeline.next_frame().info.index, i);
  pipeline.end_early();
  int64_t queued = 0;
  while (queued < 100) {
    const Frame frame = pipeline.next_frame();
    if (!frame) break;
    EXPECT_EQ(frame.info.index, 10 + queued++) << "frames that were made already are not lost";
  }
  EXPECT_LE(queued, 4);
  EXPECT_FALSE(pipeline.next_frame());
  pipeline.stop();
  EXPECT_NO_THROW(pipeline.check());
}

/// Returns the sum of all samples, a measure of brightness.
int64_t brightness(const Frame& frame) {
  const ConstImageRef image = frame.image();
  int64_t sum = 0;
  for (int y = 0; y < image.height(); ++y)
    for (size_t x = 0; x < image.row_bytes(); ++x) sum += image.row(y)[x];
  return sum;
}

TEST(Pipeline, ABatchIsAtomic) {
  // The second invert undoes the first: a frame with only one of them would be a negative.
  Pipeline pipeline(source(3000), options("invert@a,invert@b,levels"), registry());
  Pipeline plain(source(SyntheticSource::kDistinct), options("levels"), registry());
  plain.start();
  std::vector<int64_t> expected;
  while (Frame frame = plain.next_frame()) expected.push_back(brightness(frame));
  pipeline.start();
  for (int i = 0; i < 300; ++i) {
    const bool on = i % 2 == 0;
    pipeline.post(Batch{{SetEnabled{"a", !on}, SetEnabled{"b", !on}}});
    pipeline.post(Batch{{SetParam{"levels", "brightness", ParamValue(0.5)}, SetEnabled{"nobody", true}}});
    const Frame frame = pipeline.next_frame();
    ASSERT_TRUE(frame);
    ASSERT_EQ(brightness(frame), expected[static_cast<size_t>(i) % expected.size()]) << "frame " << i;
  }
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, ReportsTheOutcomeOfAGraphChange) {
  Pipeline pipeline(source(100'000), options("invert"), registry());
  pipeline.start();
  const auto outcome = [&](uint64_t request) {
    for (int i = 0; i < 5000; ++i) {
      pipeline.next_frame();
      for (const PlanOutcome& o : pipeline.take_outcomes())
        if (o.request == request) return o;
    }
    return PlanOutcome{};
  };
  pipeline.post(SetGraph{parse_chain("mosaic,invert", registry()), 7});
  EXPECT_EQ(outcome(7).problem, "");
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "mosaic,invert");
  // A valid graph in which the sizes of two pictures differ. Only the planner detects this.
  GraphDesc sizes = parse_chain("crop=width=50", registry());
  sizes.nodes.push_back({.id = "blend", .filter = "blend", .inputs = {"source", "crop"}});
  sizes.output = "blend";
  pipeline.post(SetGraph{sizes, 8});
  const PlanOutcome refused = outcome(8);
  EXPECT_NE(refused.problem.find("blend"), std::string::npos) << refused.problem;
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "mosaic,invert") << "the old graph keeps running";
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "mosaic,invert");
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, CommandsHaveTicketsAndWakeUpsAreCounted) {
  Pipeline pipeline(source(100), paused("invert"), registry());
  pipeline.start();
  const uint64_t ticket = pipeline.try_post(SetSpeed{2});
  EXPECT_GT(ticket, 0u);
  EXPECT_TRUE(eventually([&] { return pipeline.status().applied >= ticket; }));
  EXPECT_EQ(pipeline.status().applied, ticket);
  EXPECT_EQ(pipeline.status().speed, 2);
  const uint64_t heartbeat = pipeline.status().process_heartbeat;
  pipeline.wake();
  EXPECT_TRUE(eventually([&] { return pipeline.status().process_heartbeat > heartbeat; }))
      << "also while paused";
  pipeline.stop();
  EXPECT_EQ(pipeline.try_post(SetSpeed{1}), 0u) << "closed";
}

TEST(Pipeline, ACommandThatWaitsForRoomInTheQueueIsComplete) {
  Pipeline pipeline(source(100'000), options("invert"), registry());
  pipeline.start();
  const auto full = [&] {
    for (int i = 0; i < 2000; ++i)
      if (pipeline.try_post(SetSpeed{1}) == 0) return true;
    return false;
  };
  // The process thread waits, because nobody takes the frames.
  ASSERT_TRUE(eventually([&] {
    if (!full()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return pipeline.try_post(SetSpeed{1}) == 0;
  }));
  std::thread client([&] { pipeline.post(SetGraph{parse_chain("mosaic,invert", registry()), 1}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto changed = [&] { return to_chain(pipeline.graph()->graph) == "mosaic,invert"; };
  while (!changed() && pipeline.next_frame()) continue;
  EXPECT_TRUE(changed());
  client.join();
  pipeline.stop();
}

TEST(Pipeline, FailureOfTheSourceEndsTheRunAndIsRethrown) {
  Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{32, 32}, 100, 5), options("invert"), registry());
  pipeline.start();
  while (pipeline.next_frame()) {
  }
  EXPECT_THROW(pipeline.check(), Error);
}

TEST(Pipeline, ScopesAreReadWhilePausedAndRemoved) {
  Pipeline pipeline(source(100), paused("invert,mosaic"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(pipeline.take_newest()); }));
  const ScopeRequest tap{"invert", ScopeKind::histogram};
  ScopeReading reading;
  EXPECT_FALSE(pipeline.read_scope(tap, reading));
  pipeline.post(SetScopes{{tap, {"mosaic", ScopeKind::waveform}}});
  ASSERT_TRUE(eventually([&] { return pipeline.read_scope(tap, reading); }));
  EXPECT_EQ(std::accumulate(reading.counts.begin(), reading.counts.end(), 0u), 4u * 160 * 120);
  int scopes = 0;
  for (const PlannedNode& node : pipeline.graph()->planned) scopes += node.scope;
  EXPECT_EQ(scopes, 2);
  pipeline.post(SetScopes{});
  EXPECT_TRUE(eventually([&] { return !pipeline.read_scope(tap, reading); })) << "nothing is measured";
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, PacedPlaybackKeepsTheSourcesRate) {
  PipelineOptions o = paced("invert");
  Pipeline pipeline(source(30), o, registry());
  const int64_t begin = now_ns();
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_GE(now_ns() - begin, 29 * SyntheticSource::kDuration - 1'000'000);
  EXPECT_EQ(pipeline.status().processed, 30u);
}

TEST(Pipeline, StatesTheShapeOfTheSourcesAndOfTheOutputsPixels) {
  auto wide = std::make_unique<SyntheticSource>(Extent{64, 48}, 10);
  wide->aspect = {4, 3};
  Pipeline pipeline(std::move(wide), paused("rotate=angle=90"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 0; }));
  EXPECT_EQ(pipeline.status().source_aspect, (PixelAspect{4, 3}));
  EXPECT_EQ(pipeline.status().pixel_aspect, (PixelAspect{3, 4}));
}

TEST(Pipeline, StopsInEveryState) {
  for (int i = 0; i < 60; ++i) {
    PipelineOptions o = options("invert");
    o.paced = i % 3 == 0, o.paused = i % 6 == 0;
    Pipeline pipeline(source(1000, {16, 16}), o, registry());
    if (i % 5 != 0) pipeline.start();
    if (i % 2) pipeline.post(Seek{i * SyntheticSource::kDuration});
    if (i % 4 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
  }
}

}  // namespace
}  // namespace lensd
