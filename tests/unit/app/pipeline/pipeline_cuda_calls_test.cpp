// app/pipeline with CUDA: each call of the CUDA runtime fails once. If memory is short, the run continues on
// the CPU or with the old graph; after other errors, it may end with an error. It does not hang, deliver a
// wrong frame, or keep memory of the GPU. A live source continues after a call that fails for lack of memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/app/pipeline/playing_source.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/failing_cuda.hpp"
#include "tests/unit/common/gpu_memory.hpp"

namespace lensd {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNewChain = "invert,levels=gamma=1.5,klt";
constexpr int kCallFrames = 2000, kFramesOfEach = 8;
constexpr size_t kPositions = 24;

struct Expected {
  std::vector<uint64_t> first = run_all(kChain, 2, kCallFrames), next = run_all(kNewChain, 2, kCallFrames);
};

/// Plays some frames, changes the graph, and plays some more. Returns what happened. Throws the run's error.
std::string play(const Expected& expected) {
  PipelineOptions o = options(kChain);
  o.backend = Backend::cuda, o.cpu_if_memory_short = true;
  o.executor.timing_interval = 1;
  Pipeline pipeline(source(kCallFrames), o, registry());
  pipeline.start();
  std::string happened = pipeline.take_notices().empty() ? "goes on" : "runs on the CPU";
  const auto timed_on_gpu = [](const PassStats& row) { return row.active && row.gpu; };
  if (happened == "runs on the CPU" && std::ranges::any_of(pipeline.profiler().snapshot(), timed_on_gpu))
    return "passes of the GPU are listed";
  bool changed = false;
  for (int i = 0, rest = kFramesOfEach; i < kCallFrames && rest > 0; ++i) {
    if (i == kFramesOfEach) pipeline.post(SetGraph{parse_chain(kNewChain, registry())});
    const Frame frame = pipeline.next_frame();
    pipeline.check();
    if (!frame) return "the frames end early";
    frame.wait_ready();
    const auto index = static_cast<size_t>(frame.info.index);
    const uint64_t found = hash(frame.image());
    if (found != expected.first[index] && found != expected.next[index]) return "a frame is wrong";
    if (!changed && !pipeline.take_notices().empty()) changed = true, happened = "keeps the old graph";
    changed = changed || found == expected.next[index];
    if (changed) --rest;
    if (!changed) std::this_thread::sleep_for(1ms);
  }
  pipeline.stop();
  pipeline.check();
  return changed ? happened : "the graph does not change";
}

/// Returns what happens in play(), which may end with an error. Ends the process if the run hangs.
std::string outcome(const Expected& expected, const std::string& what, std::chrono::seconds limit = 20s) {
  auto run = std::async(std::launch::async, [&]() -> std::string {
    try {
      return play(expected);
    } catch (const Error& error) {
      if (error.code() != ExitCode::runtime_failure && error.code() != ExitCode::unavailable)
        return std::string("wrong exit code: ") + error.what();
      return "ends with an error";
    } catch (const std::exception& error) {
      return std::string("unexpected exception: ") + error.what();
    }
  });
  if (run.wait_for(limit) != std::future_status::ready) {
    std::fprintf(stderr, "%s: the run hangs\n", what.c_str());
    std::abort();
  }
  return run.get();
}

/// Returns the numbers of the calls to fail: all if there are few, otherwise the first ones, then some that
/// are evenly spaced up to the last one.
std::set<int64_t> positions(int64_t calls) {
  std::set<int64_t> chosen;
  const auto half = static_cast<int64_t>(kPositions / 2);
  for (int64_t i = 1; i <= std::min(calls, half); ++i) chosen.insert(i);
  for (int64_t i = 1; i <= half && calls > half; ++i) chosen.insert(half + (calls - half) * i / half);
  return chosen;
}

TEST(PipelineCuda, EveryCallOfTheRuntimeMayFail) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  use_pinned_memory(0);
  const Expected expected;
  // Loads the kernels. If they are PTX, the driver compiles them now, and the graph may change too late.
  const std::string cold = outcome(expected, "first run", 120s);
  ASSERT_TRUE(cold == "goes on" || cold == "the graph does not change") << cold;
  fail_cuda_call(0, 0);
  ASSERT_EQ(outcome(expected, "second run"), "goes on");
  const std::vector<CudaCall> calls = cuda_calls();
  const size_t before = free_gpu_bytes();
  for (size_t f = 0; f < calls.size(); ++f) {
    std::set<std::string> allowed = {"goes on", "runs on the CPU", "keeps the old graph"};
    if (!calls[f].memory) allowed.insert("ends with an error");
    std::map<std::string, int> outcomes;
    for (const int64_t number : positions(calls[f].count)) {
      const std::string what = std::string(calls[f].name) + " " + std::to_string(number);
      fail_cuda_call(f, number);
      const std::string found = outcome(expected, what);
      EXPECT_TRUE(allowed.contains(found)) << what << ": " << found;
      ++outcomes[cuda_call_failed() ? found : "not reached"];
    }
    std::printf("%s, %lld calls:", calls[f].name, static_cast<long long>(calls[f].count));
    for (const auto& [found, count] : outcomes) std::printf(" %d × %s;", count, found.c_str());
    std::printf("\n");
  }
  fail_cuda_call(0, 0);
  EXPECT_EQ(outcome(expected, "last run"), "goes on");
  // Other programs, such as tests that run at the same time, may use the GPU for a while.
  EXPECT_TRUE(eventually([&] { return free_gpu_bytes() + (16 << 20) >= before; }))
      << "memory of the GPU is kept: " << free_gpu_bytes() << " of " << before << " bytes are free";
}

constexpr Extent kSteady{160, 120};

/// A live source with 200 pictures per second.
class SteadySource final : public PlayingSource {
 public:
  SteadySource() : PlayingSource(SyntheticSource(kSteady, 1).info()) {}
  FrameOutcome next(Picture& out) override {
    std::this_thread::sleep_for(5ms);
    return pictures_.next(out);
  }

 private:
  SyntheticSource pictures_{kSteady, 1'000'000};
};

PipelineOptions steady_on_gpu(const std::string& chain) {
  PipelineOptions o = paced(chain);
  o.backend = Backend::cuda;
  o.executor.timing_interval = 1;
  return o;
}

/// Waits for more frames than the pool has, so that every slot is used again.
bool shows_frames(Pipeline& pipeline) {
  const uint64_t before = pipeline.status().processed;
  return eventually([&] {
    if (const Frame frame = pipeline.take_newest()) frame.wait_ready();
    return pipeline.status().processed > before + 20;
  });
}

TEST(PipelineCuda, ALiveSourceContinuesAfterACallWithoutMemory) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  use_pinned_memory(0);
  const std::set<std::string> failing = {"cudaStreamAddCallback", "cudaGraphLaunch", "cudaMemcpyAsync",
                                         "cudaMemcpy2DAsync"};
  const std::vector<CudaCall> calls = cuda_calls();
  for (size_t f = 0; f < calls.size(); ++f) {
    if (!failing.contains(calls[f].name)) continue;
    Pipeline pipeline(std::make_unique<SteadySource>(), steady_on_gpu(kChain), registry());
    pipeline.start();
    ASSERT_TRUE(shows_frames(pipeline)) << calls[f].name;
    const uint64_t dropped = pipeline.status().dropped;
    fail_cuda_call(f, 1, true);
    EXPECT_TRUE(shows_frames(pipeline)) << calls[f].name;
    EXPECT_TRUE(cuda_call_failed()) << calls[f].name;
    EXPECT_LT(dropped, pipeline.status().dropped) << calls[f].name;
    pipeline.stop();
    EXPECT_NO_THROW(pipeline.check()) << calls[f].name;
  }
  fail_cuda_call(0, 0);
}

TEST(PipelineCuda, ALiveSourceKeepsItsGraphIfThereIsNoMemoryToSwapInANewOne) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  use_pinned_memory(0);
  // Without statistics of nodes, only swap_in() makes this call.
  const std::vector<CudaCall> calls = cuda_calls();
  const auto call = std::ranges::find_if(
      calls, [](const CudaCall& c) { return std::string_view(c.name) == "cudaMemsetAsync"; });
  ASSERT_TRUE(call != calls.end());
  Pipeline pipeline(std::make_unique<SteadySource>(), steady_on_gpu("temporal_denoise"), registry());
  pipeline.start();
  ASSERT_TRUE(shows_frames(pipeline));
  const auto outcome_of_new_graph = [&pipeline](const char* chain) -> std::string {
    pipeline.post(SetGraph{.graph = parse_chain(chain, registry()), .request = 1});
    std::vector<PlanOutcome> outcomes;
    const bool planned = eventually([&] {
      if (const Frame frame = pipeline.take_newest()) frame.wait_ready();
      outcomes = pipeline.take_outcomes();
      return !outcomes.empty();
    });
    return planned ? outcomes[0].problem : "no outcome";
  };
  fail_cuda_call(static_cast<size_t>(call - calls.begin()), 1, true);
  const std::string problem = outcome_of_new_graph("temporal_denoise,invert");
  EXPECT_TRUE(cuda_call_failed());
  EXPECT_TRUE(problem.starts_with("GPU memory: not enough for ")) << problem;
  EXPECT_EQ(to_chain(pipeline.graph()->requested), "temporal_denoise");
  EXPECT_TRUE(shows_frames(pipeline));
  fail_cuda_call(0, 0);
  EXPECT_EQ(outcome_of_new_graph("temporal_denoise,invert"), "");
  EXPECT_EQ(to_chain(pipeline.graph()->graph), "temporal_denoise,invert");
  EXPECT_TRUE(shows_frames(pipeline));
  pipeline.stop();
  EXPECT_NO_THROW(pipeline.check());
}

}  // namespace
}  // namespace lensd
