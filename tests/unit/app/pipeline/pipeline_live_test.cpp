// A live source whose connections differ.
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr int64_t kFrames = 6, kFirst = 3;  ///< number of frames: of both connections, of the first one

/// Reports the rates of its source.
class RateSink final : public FrameSink {
 public:
  void take(const Frame&, const Picture&, const PixelAspects&) override { ++taken; }
  void rate_changed(double fps) override {
    const std::lock_guard lock(mutex);
    changes.emplace_back(taken.load(), fps);
  }
  void stop_soon() noexcept override {}
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {}; }

  std::atomic<int64_t> taken{0};
  std::mutex mutex;
  std::vector<std::pair<int64_t, double>> changes;  ///< number of frames before, and the rate
};

/// A live source with a connection of unknown rate when it is opened. The second connection begins when the
/// sink has all pictures of the first one.
class ReconnectingSource final : public Source {
 public:
  explicit ReconnectingSource(std::shared_ptr<RateSink> sink)
      : sink_(std::move(sink)), info_(pictures_.info()) {
    info_.live = true, info_.seekable = false, info_.fps = 0;
  }

  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    // Only one picture at a time: a live source drops what was not processed.
    while (sink_->taken < delivered_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const FrameOutcome outcome = pictures_.next(out);
    if (outcome != FrameOutcome::ok) return outcome;
    const bool second = delivered_++ >= kFirst;
    rate_ = second ? 60 : 30;
    out.info.serial = second ? 2 : 1;
    return outcome;
  }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  LiveStatus live_status() const override {
    LiveStatus status;
    status.live = true, status.nominal_rate = rate_;
    return status;
  }
  void interrupt() noexcept override {}

 private:
  const std::shared_ptr<RateSink> sink_;
  SyntheticSource pictures_{{160, 120}, kFrames};
  SourceInfo info_;
  int64_t delivered_ = 0;  // decode thread
  std::atomic<double> rate_{0};
};

/// A live source that delivers placeholders until it is connected.
class LateSource final : public Source {
 public:
  LateSource() : info_(pictures_.info()) { info_.live = true, info_.seekable = false; }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const FrameOutcome outcome = pictures_.next(out);
    out.info.placeholder = !connected;
    return outcome;
  }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override {}

  std::atomic<bool> connected{false};

 private:
  SyntheticSource pictures_{{16, 16}, 1'000'000};
  SourceInfo info_;
};

TEST(LivePipeline, APausedStartShowsTheFirstPictureOfALateSource) {
  auto late = std::make_unique<LateSource>();
  LateSource& source = *late;
  Pipeline pipeline(std::move(late), paused("grayscale"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().placeholders > 5; }));
  source.connected = true;
  EXPECT_TRUE(eventually([&] {
    const Frame frame = pipeline.take_newest();
    return frame && !frame.info.placeholder;
  }));
  const uint64_t processed = pipeline.status().processed;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(pipeline.status().processed, processed) << "no further picture while paused";
  pipeline.stop();
  pipeline.check();
}

TEST(LivePipeline, SinksGetTheRateOfEachConnection) {
  const auto sink = std::make_shared<RateSink>();
  PipelineOptions o = options("grayscale");
  o.sinks = {sink};
  Pipeline pipeline(std::make_unique<ReconnectingSource>(sink), o, registry());
  pipeline.start();
  while (Frame frame = pipeline.next_frame()) frame.wait_ready();
  pipeline.check();
  EXPECT_EQ(sink->changes, (std::vector<std::pair<int64_t, double>>{{0, 30}, {kFirst, 60}}));
}

}  // namespace
}  // namespace lensd
