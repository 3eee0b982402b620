// app/pipeline on a synthetic source: order, commands at frame boundaries, seeking, failures, and what the
// hot path allocates.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <thread>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/device/memory.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/count_allocations.hpp"
#include "tests/unit/eventually.hpp"
#include "tests/unit/synthetic_source.hpp"

namespace lensd {
namespace {

constexpr const char* kChain = "median=radius=1,gaussian=sigma=1.6,grayscale";

PipelineOptions options(const std::string& chain, int threads = 2) {
  PipelineOptions o;
  o.executor = {.threads = threads, .frames = 6};
  o.graph = parse_chain(chain, registry());
  return o;
}

std::unique_ptr<Source> source(int64_t frames, Extent extent = {160, 120}) {
  return std::make_unique<SyntheticSource>(extent, frames);
}

uint64_t hash(ConstImageRef image) {
  uint64_t h = 1469598103934665603u;  // FNV-1a
  for (int y = 0; y < image.height(); ++y)
    for (size_t x = 0; x < image.row_bytes(); ++x) h = (h ^ image.row(y)[x]) * 1099511628211u;
  return h;
}

std::vector<uint64_t> run_all(const std::string& chain, int threads, int64_t frames,
                              Backend backend = Backend::cpu) {
  PipelineOptions o = options(chain, threads);
  o.backend = backend;
  Pipeline pipeline(source(frames), o, registry());
  pipeline.start();
  std::vector<uint64_t> hashes;
  while (Frame frame = pipeline.next_frame()) {
    frame.wait_ready();
    EXPECT_EQ(frame.info.index, static_cast<int64_t>(hashes.size()));
    hashes.push_back(hash(frame.image()));
  }
  pipeline.check();
  return hashes;
}

TEST(Pipeline, EveryFrameInOrderWhateverTheThreads) {
  const auto one = run_all(kChain, 1, 50);
  EXPECT_EQ(one.size(), 50u);
  EXPECT_EQ(one, run_all(kChain, 2, 50));
  EXPECT_EQ(one, run_all(kChain, 5, 50));
  EXPECT_EQ(one[3], one[3 + SyntheticSource::kDistinct]);
  EXPECT_NE(one[3], one[4]);
}

/// Keeps what it is given, as recordings do; slow ones hold the pipeline up.
class KeepingSink final : public FrameSink {
 public:
  void take(const Frame& frame, const Picture& picture) override {
    EXPECT_TRUE(picture);
    indices.push_back(frame.info.index);
    hashes.push_back(hash(frame.image()));
    kept = frame.share();
  }
  void start(const StartRecord&) override { started_at = static_cast<int64_t>(indices.size()); }
  void stop() override { stopped = true; }
  void stop_soon() noexcept override { hurried = true; }
  SinkStatus status() const override { return {}; }
  std::vector<SinkNotice> take_notices() override { return {{true, "from the sink"}}; }

  Frame kept;
  std::vector<int64_t> indices;
  std::vector<uint64_t> hashes;
  int64_t started_at = -1;
  bool stopped = false;
  std::atomic<bool> hurried{false};
};

TEST(Pipeline, SinksTakeTheFramesOfTheConsumerAndNoOthers) {
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
    EXPECT_TRUE(sink->hurried);
    EXPECT_EQ(hash(sink->kept.image()), shown.back());
    const auto notices = pipeline.take_notices();
    ASSERT_FALSE(notices.empty());
    EXPECT_EQ(notices.front().text, "from the sink");
  }
}

TEST(Pipeline, StopsAfterTheFramesAskedFor) {
  PipelineOptions o = options("invert");
  o.max_frames = 7;
  Pipeline pipeline(source(1000), o, registry());
  pipeline.start();
  int64_t frames = 0;
  while (pipeline.next_frame()) ++frames;
  EXPECT_EQ(frames, 7);
}

TEST(Pipeline, ParametersApplyAtAFrameBoundaryAndBadOnesAreRefused) {
  Pipeline pipeline(source(2000), options("invert,mosaic=block=4"), registry());
  pipeline.start();
  for (int i = 0; i < 500; ++i) {
    pipeline.post(SetParam{"mosaic", "block", ParamValue(int64_t{2 + i % 30})});
    pipeline.post(SetParam{"mosaic", "block", ParamValue(int64_t{100000})});
    pipeline.post(SetEnabled{"invert", i % 2 == 0});
    const Frame frame = pipeline.next_frame();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame.info.index, i) << "no frame is lost to a change";
  }
  bool refused = false;
  for (const auto& n : pipeline.take_notices())
    refused = refused || (n.problem && n.text.find("block = 100000") != std::string::npos);
  EXPECT_TRUE(refused);
  pipeline.stop();
  pipeline.check();
}

/// Sum of the pixels' values: tells how bright a frame is.
int64_t brightness(const Frame& frame) {
  const ConstImageRef image = frame.image();
  int64_t sum = 0;
  for (int y = 0; y < image.height(); ++y)
    for (size_t x = 0; x < image.row_bytes(); ++x) sum += image.row(y)[x];
  return sum;
}

TEST(Pipeline, ABatchAppliesToOneFrameWholeOrNotAtAll) {
  // The second invert undoes the first: a frame made with one of them alone would be a negative.
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

TEST(Pipeline, TellsWhatBecameOfAGraph) {
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
  // Sound by itself; that the sizes do not fit is found by planning.
  GraphDesc sizes = parse_chain("crop=width=50", registry());
  sizes.nodes.push_back({.id = "blend", .filter = "blend", .inputs = {"source", "crop"}});
  sizes.output = "blend";
  pipeline.post(SetGraph{sizes, 8});
  const PlanOutcome refused = outcome(8);
  EXPECT_NE(refused.problem.find("blend"), std::string::npos) << refused.problem;
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "mosaic,invert") << "the old graph goes on";
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "mosaic,invert");
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, CommandsHaveTicketsAndWakingIsSeen) {
  PipelineOptions o = options("invert");
  o.paced = o.paused = true;
  Pipeline pipeline(source(100), o, registry());
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

TEST(Pipeline, FailureOfTheSourceEndsTheRunAndIsRethrown) {
  Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{32, 32}, 100, 5), options("invert"), registry());
  pipeline.start();
  while (pipeline.next_frame()) {
  }
  EXPECT_THROW(pipeline.check(), Error);
}

TEST(Pipeline, PausedItShowsOneFrameAndStepsExactly) {
  PipelineOptions o = options("invert");
  o.paced = o.paused = true;
  Pipeline pipeline(source(100), o, registry());
  pipeline.start();
  Frame shown;
  const auto shows = [&](int64_t index) {
    return eventually([&] {
      if (Frame frame = pipeline.take_newest()) shown = std::move(frame);
      return shown && shown.info.index == index;
    });
  };
  EXPECT_TRUE(shows(0));
  pipeline.post(Step{1});
  EXPECT_TRUE(shows(1));
  pipeline.post(Step{3});
  EXPECT_TRUE(shows(4));
  pipeline.post(Step{-1});
  EXPECT_TRUE(shows(3));
  pipeline.post(Seek{40 * SyntheticSource::kDuration});
  EXPECT_TRUE(shows(40));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(pipeline.take_newest()) << "nothing moves while paused";
  pipeline.post(SetEnabled{"invert", false});
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(pipeline.take_newest()); }))
      << "tuning shows while paused";
  pipeline.post(Pause{false});
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
}

TEST(Pipeline, LoopingThatIsAskedForAtTheEndBeginsAnew) {
  PipelineOptions o = options("invert");
  o.paced = true;
  Pipeline pipeline(source(10), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.post(SetLoop{true});
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed > 20; }));
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, TapsAreReadWhilePausedAndGoAway) {
  PipelineOptions o = options("invert,mosaic");
  o.paced = o.paused = true;
  Pipeline pipeline(source(100), o, registry());
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
  EXPECT_TRUE(eventually([&] { return !pipeline.read_scope(tap, reading); }))
      << "nothing is measured any more";
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, PacedItKeepsTheSourcesTime) {
  PipelineOptions o = options("invert");
  o.paced = true;
  Pipeline pipeline(source(30), o, registry());
  const int64_t begin = now_ns();
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_GE(now_ns() - begin, 29 * SyntheticSource::kDuration - 1'000'000);
  EXPECT_EQ(pipeline.status().processed, 30u);
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

TEST(Pipeline, AllocatesNothingPerFrameOnceWarm) {
  if (!kCountsAllocations) GTEST_SKIP() << "sanitizers replace malloc themselves";
  Pipeline pipeline(source(600), options("median=radius=1,gaussian=sigma=1.6,mosaic,invert,grayscale"),
                    registry());
  pipeline.start();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pipeline.next_frame());
  start_counting();
  for (int i = 0; i < 300; ++i) pipeline.next_frame();
  EXPECT_EQ(stop_counting().mallocs, 0) << "over 300 frames, decode to delivery";
}

/// Skips where there is no device, else makes pictures page-locked.
#define LENSD_NEEDS_CUDA()                                     \
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) { \
    GTEST_SKIP() << cuda.reason;                               \
  } else {                                                     \
    use_pinned_memory();                                       \
  }

PipelineOptions cuda_options(const std::string& chain) {
  PipelineOptions o = options(chain);
  o.backend = Backend::cuda;
  o.executor.timing_interval = 1;
  return o;
}

TEST(PipelineCuda, SameBytesAsTheCpu) {
  LENSD_NEEDS_CUDA();
  EXPECT_EQ(run_all(kChain, 2, 50), run_all(kChain, 1, 50, Backend::cuda));
}

TEST(PipelineCuda, TuningCapturesNothingAndChangesOfTheGraphLoseNoFrame) {
  LENSD_NEEDS_CUDA();
  Pipeline pipeline(source(3000), cuda_options("invert,levels,canny,gaussian=sigma=1.6"), registry());
  pipeline.start();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pipeline.next_frame());
  const int64_t captures = pipeline.executor().captures();
  for (int i = 0; i < 1000; ++i) {
    pipeline.post(SetParam{"levels", "gamma", ParamValue(0.5 + 0.001 * i)});
    pipeline.post(SetParam{"canny", "low", ParamValue(10.0 + 0.05 * i)});
    const Frame frame = pipeline.next_frame();
    ASSERT_EQ(frame.info.index, 50 + i);
  }
  EXPECT_EQ(pipeline.executor().captures(), captures);
  for (int i = 0; i < 100; ++i) {
    pipeline.post(SetEnabled{"invert", i % 2 == 0});
    for (int k = 0; k < 5; ++k) ASSERT_EQ(pipeline.next_frame().info.index, 1050 + 5 * i + k);
  }
  RecordProperty("captures", std::to_string(captures));
  pipeline.stop();
  pipeline.check();
}

/// Of the time that uploads and kernels could run beside each other (the shorter of the two sums), the share
/// in which they did.
TEST(PipelineCuda, UploadsOverlapTheKernelsOfTheFrameBefore) {
  LENSD_NEEDS_CUDA();
  Pipeline pipeline(source(120, {3840, 2160}), cuda_options("gaussian=sigma=9,median=radius=2,bilateral"),
                    registry());
  pipeline.start();
  while (Frame frame = pipeline.next_frame()) frame.reset();
  pipeline.check();
  int64_t uploads = 0, kernels = 0, overlapped = 0;
  const auto all = pipeline.timeline().intervals();
  for (const auto& one : all)
    if (one.track == "cuda compute stream" && one.frame >= 10) kernels += one.end_ns - one.begin_ns;
  for (const auto& up : all) {
    if (up.label != "upload" || up.frame < 10) continue;
    uploads += up.end_ns - up.begin_ns;
    for (const auto& kernel : all)
      if (kernel.track == "cuda compute stream" && kernel.frame < up.frame)
        overlapped +=
            std::max<int64_t>(0, std::min(up.end_ns, kernel.end_ns) - std::max(up.begin_ns, kernel.begin_ns));
  }
  ASSERT_GT(uploads, 0);
  const double share = static_cast<double>(overlapped) / static_cast<double>(std::min(uploads, kernels));
  std::printf(
      "uploads %.2f ms, kernels %.2f ms in all; %.2f ms beside each other, %.0f %% of what could be\n",
      static_cast<double>(uploads) * 1e-6, static_cast<double>(kernels) * 1e-6,
      static_cast<double>(overlapped) * 1e-6, share * 100);
  EXPECT_GT(share, 0.5);
}

/// The copy of a frame cannot begin before it was decoded, nor its kernels end after it was handed on.
TEST(PipelineCuda, GpuIntervalsLieBetweenDecodingAndTheNextStages) {
  LENSD_NEEDS_CUDA();
  Pipeline pipeline(source(200), cuda_options("median=radius=2,invert"), registry());
  pipeline.start();
  while (Frame frame = pipeline.next_frame()) frame.wait_ready();
  const int64_t end = now_ns();
  pipeline.check();
  std::map<int64_t, int64_t> decoded;
  const auto all = pipeline.timeline().intervals();
  for (const auto& one : all)
    if (one.track == "decode thread") decoded[one.frame] = one.end_ns;
  int uploads = 0;
  for (const auto& one : all) {
    if (!one.track.starts_with("cuda")) continue;
    EXPECT_LE(one.begin_ns, one.end_ns);
    EXPECT_LE(one.end_ns, end) << one.label << " of frame " << one.frame;
    if (one.label != "upload" || !decoded.count(one.frame)) continue;
    ++uploads;
    EXPECT_GE(one.begin_ns, decoded[one.frame]) << "frame " << one.frame;
  }
  EXPECT_GT(uploads, 50);
}

TEST(PipelineCuda, AllocatesNothingPerFrameOnceWarm) {
  LENSD_NEEDS_CUDA();
  if (!kCountsAllocations) GTEST_SKIP() << "sanitizers replace malloc themselves";
  Pipeline pipeline(source(600), cuda_options("median=radius=1,gaussian=sigma=1.6,mosaic,invert,grayscale"),
                    registry());
  pipeline.start();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pipeline.next_frame());
  start_counting();
  for (int i = 0; i < 300; ++i) pipeline.next_frame();
  const Allocations counted = stop_counting();
  std::printf("300 frames: %lld operator new, %lld malloc (the driver's own included)\n",
              static_cast<long long>(counted.news), static_cast<long long>(counted.mallocs));
  EXPECT_EQ(counted.news, 0) << "our code allocates with new only";
}

}  // namespace
}  // namespace lensd
