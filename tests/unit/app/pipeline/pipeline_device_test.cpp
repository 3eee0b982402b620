// app/pipeline with CUDA: a GPU that fails, a GPU that is slower than the source, and a GPU other than the
// first.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#if LENSD_CUDA
#include "tests/unit/app/pipeline/gpu_fault.hpp"
#endif

namespace lensd {
namespace {

constexpr const char* kSlow = "bilateral=radius=7,bilateral=radius=7,bilateral=radius=7";

PipelineOptions on_gpu(const std::string& chain, int device = 0) {
  use_pinned_memory(device);
  PipelineOptions o = options(chain);
  o.backend = Backend::cuda;
  o.executor.device = device, o.executor.frames = 16;
  return o;
}

#if LENSD_CUDA
/// Waits for frames until the run fails; the GPU fails after the third one. Ends the process: with 0 if the
/// failure was reported, with 1 otherwise.
void run_until_the_gpu_fails(bool paced) {
  alarm(30);  // a process that hangs is killed
  PipelineOptions o = on_gpu(kSlow);
  o.paced = paced;
  try {
    Pipeline pipeline(source(100'000, {1920, 1080}), o, registry());
    pipeline.start();
    for (int i = 0;; ++i) {
      Frame frame = paced ? pipeline.take_newest() : pipeline.next_frame();
      pipeline.check();
      if (i == 3) fail_gpu();
      if (frame)
        frame.wait_ready();
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "reported: %s\n", error.what());
    std::_Exit(error.code() == ExitCode::runtime_failure ? 0 : 1);
  }
}

TEST(PipelineCuda, AFailingGpuEndsTheRunAndNobodyWaitsForEver) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  // Each run has its own process, because a process cannot use CUDA after a fault.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_until_the_gpu_fails(false), testing::ExitedWithCode(0), "reported: ");
  EXPECT_EXIT(run_until_the_gpu_fails(true), testing::ExitedWithCode(0), "reported: ");
}
#endif

TEST(PipelineCuda, AGpuThatIsTooSlowHasFewUnfinishedFrames) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  const PipelineOptions o = on_gpu(kSlow);
  const auto source = std::make_unique<SyntheticSource>(Extent{1920, 1080}, 1);
  Picture picture;
  ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  for (const int limit : {1, 3}) {
    Profiler profiler;
    Timeline timeline;
    ExecutorOptions limited = o.executor;
    limited.in_flight = limit;
    const auto executor = make_executor(Backend::cuda, limited, profiler, timeline);
    executor->install(
        make_plan(resolved(o.graph, registry()), picture.planes.info, Backend::cuda, registry()));
    std::vector<Frame> frames;
    for (int i = 0; i < 12; ++i) {
      frames.push_back(executor->run(picture));
      const auto unfinished =
          std::count_if(frames.begin(), frames.end(), [](const Frame& f) { return !f.ready(); });
      EXPECT_LE(unfinished, limit) << "after frame " << i;
    }
    executor->wait_for_room();
    for (const Frame& frame : frames) frame.wait_ready();
  }
}

TEST(PipelineCuda, FramesInHostMemoryShareFewBuffersOfTheGpu) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  PipelineOptions few = on_gpu(kChain), many = few;
  few.executor.frames = 5, many.executor.frames = 16;
  const Pipeline of_few(source(1), few, registry()), of_many(source(1), many, registry());
  EXPECT_LT(static_cast<double>(of_many.graph()->device_bytes),
            1.05 * static_cast<double>(of_few.graph()->device_bytes));

  // Frames that are released in random order make consecutive frames use the same buffers.
  constexpr int kFrames = 300;
  const std::vector<uint64_t> expected = run_all(kChain, 2, kFrames);
  Pipeline pipeline(source(kFrames), many, registry());
  pipeline.start();
  std::mt19937 random(7);
  std::vector<Frame> held;
  size_t count = 0;
  while (Frame frame = pipeline.next_frame()) {
    held.push_back(std::move(frame));
    if (held.size() < 12) continue;
    std::swap(held[random() % held.size()], held.back());
    held.back().wait_ready();
    EXPECT_EQ(hash(held.back().image()), expected[static_cast<size_t>(held.back().info.index)]);
    held.pop_back(), ++count;
  }
  pipeline.check();
  EXPECT_EQ(count + held.size(), static_cast<size_t>(kFrames));
}

/// Returns true if this process has a context on a device.
bool has_context(int device) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  using GetState = int (*)(int device, unsigned* flags, int* active);
  const auto state = reinterpret_cast<GetState>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int active = 0;
  return state && state(device, &flags, &active) == 0 && active != 0;
}

/// Runs a pipeline on device 1 that gets a new graph meanwhile. Ends the process with 0 if device 0 stays
/// unused.
void run_on_the_second_gpu() {
  alarm(60);
  std::string problem;
  try {
    PipelineOptions o = on_gpu("invert", 1);
    o.precision = Precision::sixteen;
    Pipeline pipeline(source(400, {640, 480}), o, registry());
    pipeline.start();
    for (int i = 0; Frame frame = pipeline.next_frame(); ++i) {
      frame.wait_ready();
      if (i == 20) pipeline.post(SetGraph{parse_chain("gaussian=radius=31,unsharp,levels", registry())});
    }
    pipeline.check();
    for (const Notice& notice : pipeline.take_notices()) problem += notice.text + "\n";
    if (pipeline.graph()->graph.nodes.size() != 3) problem += "the new graph does not run\n";
    std::thread([frame = Frame(), block = MemoryBlock(MemoryKind::pinned, 1000)] {}).join();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (has_context(0)) problem += "device 0 has a context\n";
  if (!has_context(1)) problem += "device 1 has no context\n";
  std::fprintf(stderr, "problems: %s.\n", problem.c_str());
  std::_Exit(problem.empty() ? 0 : 1);
}

TEST(PipelineCuda, TheSecondGpuAloneIsUsedIfItIsChosen) {
  if (const CudaStatus cuda = probe_cuda(1); !cuda.available) GTEST_SKIP() << cuda.reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_on_the_second_gpu(), testing::ExitedWithCode(0), "problems: \\.");
}

}  // namespace
}  // namespace lensd
