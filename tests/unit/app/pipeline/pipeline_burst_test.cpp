// app/pipeline with a live source whose pictures arrive in bursts.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

/// Delivers `bursts` times `length` pictures at once, then waits for interrupt().
class BurstSource final : public Source {
 public:
  BurstSource(int64_t bursts, int64_t length) : pictures_({160, 120}, bursts * length), length_(length) {
    info_ = pictures_.info();
    info_.live = true, info_.seekable = false;
  }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    if (interrupted_) return FrameOutcome::again;
    if (count_ > 0 && count_ % length_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(150));
    ++count_;
    const FrameOutcome outcome = pictures_.next(out);
    return outcome == FrameOutcome::ok ? outcome : FrameOutcome::again;
  }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override { interrupted_ = true; }

 private:
  SyntheticSource pictures_;
  SourceInfo info_;
  const int64_t length_;
  int64_t count_ = 0;
  std::atomic<bool> interrupted_{false};
};

/// Counts the frames. Each take() lasts `take_ms`.
class CountingSink final : public FrameSink {
 public:
  explicit CountingSink(bool wants_all, int take_ms = 0) : wants_all_(wants_all), take_ms_(take_ms) {}
  bool wants_every_frame() const noexcept override { return wants_all_; }
  void arriving(const Arrival& arrival) override { bursts += arrival.burst, dropped = arrival.dropped; }
  void take(const Frame& frame, const Picture&, const PixelAspects&) override {
    latest_ns = std::max(latest_ns.load(), now_ns() - frame.info.capture_ns);
    last = frame.info.index;
    ++frames;
    std::this_thread::sleep_for(std::chrono::milliseconds(take_ms_));
  }
  void stop_soon() noexcept override {}
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {}; }

  std::atomic<int64_t> frames{0}, bursts{0}, last{-1}, latest_ns{0};
  std::atomic<uint64_t> dropped{0};

 private:
  const bool wants_all_;
  const int take_ms_;
};

class LivePipelineTest : public testing::Test {
 protected:
  struct Result {
    int64_t frames = 0, bursts = 0, latest_ns = 0;
    uint64_t dropped = 0;       ///< pictures, as in the pipeline's status
    uint64_t sink_dropped = 0;  ///< the same, as reported to the sink
  };

  static Result run(int64_t bursts, int64_t length, bool wants_all, int take_ms) {
    const auto sink = std::make_shared<CountingSink>(wants_all, take_ms);
    PipelineOptions o = paced("invert");
    o.sinks = {sink};
    Pipeline pipeline(std::make_unique<BurstSource>(bursts, length), o, registry());
    pipeline.start();
    EXPECT_TRUE(eventually([&] { return sink->last == bursts * length - 1; }));
    const uint64_t dropped = pipeline.status().dropped;
    pipeline.stop();
    pipeline.check();
    return {sink->frames, sink->bursts, sink->latest_ns, dropped, sink->dropped};
  }
};

/// Runs the pipeline until `good` holds, at most eight times: on a busy machine, any picture may be too late.
template <class Run, class Good>
auto run_until(Run run, Good good) {
  auto result = run();
  for (int i = 1; i < 8 && !good(result); ++i) result = run();
  return result;
}

TEST_F(LivePipelineTest, ASinkThatWantsEveryFrameGetsWholeBursts) {
  const Result result =
      run_until([] { return run(5, 10, true, 2); }, [](const Result& r) { return r.dropped == 0; });
  EXPECT_EQ(result.frames, 50);
  EXPECT_EQ(result.dropped, 0u);
  EXPECT_GE(result.bursts, 40);
}

TEST_F(LivePipelineTest, OthersGetTheNewestFrame) {
  const Result result = run(3, 10, false, 20);
  EXPECT_LE(result.frames, 15);
  EXPECT_EQ(result.dropped, 30u - static_cast<uint64_t>(result.frames));
  EXPECT_EQ(result.sink_dropped, result.dropped);
}

TEST_F(LivePipelineTest, LateFramesAreDroppedWhileTheGraphIsBehind) {
  const Result result =
      run_until([] { return run(2, 15, true, 100); }, [](const Result& r) { return r.frames > 4; });
  EXPECT_LT(result.frames, 15);
  EXPECT_GT(result.frames, 4);
  EXPECT_LT(result.latest_ns, 2 * sec);
  EXPECT_EQ(result.sink_dropped, 30u - static_cast<uint64_t>(result.frames));
}

}  // namespace
}  // namespace lensd
