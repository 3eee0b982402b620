// Frames of replaced plans on the GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/device/memory.hpp"
#include "core/image/image.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/gpu_memory.hpp"

namespace lensd {
namespace {

TEST(PipelineCuda, MemoryOfOldFramesIsFreedAfterTheLastOne) {
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
  use_pinned_memory(0);
  constexpr Extent kExtent{1920, 1080};
  constexpr size_t kFrames = 8, kBytes = kFrames * 1920 * 1080;  // at least, if the pictures are gray
  SyntheticSource source(kExtent, 1);
  Picture picture;
  ASSERT_EQ(source.next(picture), FrameOutcome::ok);
  ExecutorOptions options;
  options.host_frames = false, options.frames = kFrames;
  Profiler profiler;
  Timeline timeline;
  const auto executor = make_executor(Backend::cuda, options, profiler, timeline);
  const auto replan = [&] {
    executor->install(
        make_plan(parse_chain("invert", registry()), picture.planes.info, Backend::cuda, registry()));
  };
  replan();
  Frame held = executor->run(picture);
  held.wait_ready();
  const auto hash_of = [&](const Frame& frame) {
    Image copy({frame.image().format.format, kExtent});
    executor->device_sync()->copy_to_host(frame, 0, 0, 0, copy.ref());
    return hash(copy.ref());
  };
  const uint64_t expected = hash_of(held);
  replan();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const size_t while_held = free_gpu_bytes();
  EXPECT_EQ(hash_of(held), expected) << "the frame of the old plan is unchanged";
  held.reset();
  for (int i = 0; i < 500 && free_gpu_bytes() < while_held + kBytes / 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(free_gpu_bytes(), while_held + kBytes / 2);
}

}  // namespace
}  // namespace lensd
