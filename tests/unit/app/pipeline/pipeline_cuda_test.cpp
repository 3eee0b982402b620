// app/pipeline: allocations per frame on both backends. On a GPU also: the output, new plans, the times of
// GPU work, and the overlap of uploads and kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/base/clock.hpp"
#include "core/device/device_memory_error.hpp"
#include "core/device/memory.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/count_allocations.hpp"

namespace lensd {
namespace {

TEST(Pipeline, AllocatesNothingPerFrameOnceWarm) {
  if (!kCountsAllocations) GTEST_SKIP() << "sanitizers replace malloc themselves";
  Pipeline pipeline(source(600), options("median=radius=1,gaussian=sigma=1.6,mosaic,invert,grayscale"),
                    registry());
  pipeline.start();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pipeline.next_frame());
  start_counting();
  for (int i = 0; i < 300; ++i) pipeline.next_frame();
  const Allocations counted = stop_counting();
  EXPECT_EQ(counted.news, 0) << "300 frames, from decoding to delivery";
  // Threads of a driver that other tests have started allocate with malloc.
  if (!probe_cuda().available) {
    EXPECT_EQ(counted.mallocs, 0);
  }
}

/// Skips the test without a device. Otherwise makes the source's pictures page-locked.
#define LENSD_NEEDS_CUDA()                                     \
  if (const CudaStatus cuda = probe_cuda(); !cuda.available) { \
    GTEST_SKIP() << cuda.reason;                               \
  } else {                                                     \
    use_pinned_memory(0);                                      \
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

TEST(PipelineCuda, PartsOfDeviceFramesAreCopiedAtBothPrecisions) {
  LENSD_NEEDS_CUDA();
  for (const Precision precision : {Precision::eight, Precision::sixteen}) {
    PipelineOptions on_cpu = options(kChain), on_gpu = cuda_options(kChain);
    on_cpu.precision = on_gpu.precision = precision, on_gpu.executor.host_frames = false;
    Pipeline expected(source(1), on_cpu, registry()), pipeline(source(1), on_gpu, registry());
    expected.start(), pipeline.start();
    const Frame host = expected.next_frame(), frame = pipeline.next_frame();
    ASSERT_TRUE(host);
    ASSERT_TRUE(frame);
    host.wait_ready();
    constexpr int kX = 37, kY = 11;
    Image part({host.image().format.format, {5, 3}});
    pipeline.executor().device_sync()->copy_to_host(frame, 0, kX, kY, part.ref());
    for (int y = 0; y < 3; ++y)
      EXPECT_EQ(std::memcmp(part.ref().row(y), host.image().row(kY + y) + kX * host.image().pixel_bytes(),
                            part.ref().row_bytes()),
                0)
          << "row " << y << ", " << name(host.image().format.format);
  }
}

TEST(PipelineCuda, WithoutEnoughMemoryTheCpuRunsTheGraph) {
  LENSD_NEEDS_CUDA();
  PipelineOptions short_of_memory = cuda_options(kChain);
  short_of_memory.executor.device_memory = 100'000;  // bytes; less than one picture
  EXPECT_THROW(Pipeline(source(50), short_of_memory, registry()), DeviceMemoryError);

  short_of_memory.cpu_if_memory_short = true;
  Pipeline pipeline(source(50), short_of_memory, registry());
  const BackendChoice used = pipeline.backend({.backend = Backend::cuda, .reason = "", .fallback = false});
  EXPECT_EQ(used.backend, Backend::cpu);
  EXPECT_TRUE(used.fallback);
  EXPECT_NE(used.reason.find("MiB of GPU memory"), std::string::npos) << used.reason;
  const std::vector<Notice> notices = pipeline.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].problem);
  EXPECT_EQ(notices[0].text, "running on the CPU: " + used.reason);
  EXPECT_EQ(pipeline.graph()->device_bytes, 0u);
  for (const PassStats& row : pipeline.profiler().snapshot()) EXPECT_FALSE(row.gpu) << row.node;
  EXPECT_EQ(run_all(pipeline), run_all(kChain, 1, 50));
}

TEST(PipelineCuda, AGraphThatDoesNotFitIsRefusedAndTheOldOneGoesOn) {
  LENSD_NEEDS_CUDA();
  PipelineOptions limited = cuda_options("invert");
  Pipeline probe(source(1), limited, registry());
  const size_t needed = probe.graph()->device_bytes;
  EXPECT_GT(needed, 0u);
  limited.executor.device_memory = needed;
  Pipeline pipeline(source(400), limited, registry());
  EXPECT_EQ(pipeline.graph()->device_bytes, needed);
  pipeline.start();
  ASSERT_TRUE(pipeline.next_frame());
  pipeline.post(SetGraph{parse_chain("resize=width=640:height=480,invert", registry())});
  std::vector<Notice> notices;
  for (int i = 1; i < 400 && notices.empty(); ++i) {
    ASSERT_EQ(pipeline.next_frame().info.index, i);
    notices = pipeline.take_notices();
  }
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices[0].text.find("GPU memory"), std::string::npos) << notices[0].text;
  EXPECT_EQ(pipeline.graph()->graph.nodes.size(), 1u);
  pipeline.stop();
  pipeline.check();
}

TEST(PipelineCuda, ParametersCaptureNoGraphAndNewPlansLoseNoFrame) {
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

/// Uploads and kernels must overlap for more than half of the possible time, which is the shorter of their
/// total times.
TEST(PipelineCuda, UploadsOverlapTheKernelsOfThePreviousFrame) {
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
  std::printf("uploads %.2f ms, kernels %.2f ms in all; %.2f ms overlap, %.0f %% of the maximum\n",
              static_cast<double>(uploads) * 1e-6, static_cast<double>(kernels) * 1e-6,
              static_cast<double>(overlapped) * 1e-6, share * 100);
  EXPECT_GT(share, 0.5);
}

/// A frame's upload starts after the frame was decoded. No GPU interval ends after the last wait_ready().
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
