// Playback of a paced pipeline: pause, steps, seeks and the last frame.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

TEST(Pipeline, ShowsOneFrameWhilePausedAndStepsExactly) {
  Pipeline pipeline(source(100), paused("invert"), registry());
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
  EXPECT_FALSE(pipeline.take_newest()) << "no frame while paused";
  pipeline.post(SetEnabled{"invert", false});
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(pipeline.take_newest()); }))
      << "a parameter change is shown while paused";
  pipeline.post(Pause{false});
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
}

/// A fast source delivers its first picture before the call that requests the seek returns.
TEST(Pipeline, EveryStepBackShowsTheFrameBefore) {
  Pipeline pipeline(source(200, {16, 16}), paused("invert"), registry());
  pipeline.start();
  pipeline.post(Seek{150 * SyntheticSource::kDuration});
  int64_t shown = -1;
  const auto shows = [&](int64_t index) {
    return eventually([&] {
      if (const Frame frame = pipeline.take_newest()) shown = frame.info.index;
      return shown == index;
    });
  };
  ASSERT_TRUE(shows(150));
  for (int64_t index = 149; index >= 0; --index) {
    pipeline.post(Step{-1});
    ASSERT_TRUE(shows(index)) << "shown: " << shown;
  }
}

TEST(Pipeline, RelativeSeeksAddUp) {
  Pipeline pipeline(source(200, {16, 16}), paused("invert"), registry());
  for (int i = 0; i < 3; ++i) pipeline.post(Seek{20 * SyntheticSource::kDuration, true});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == 60; }))
      << pipeline.status().frame_index;
  pipeline.post(Step{-1}), pipeline.post(Step{-1});
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == 58; }))
      << pipeline.status().frame_index;
  pipeline.post(Seek{-10 * SyntheticSource::kDuration, true});
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == 48; }))
      << "later seeks start at the shown picture, at " << pipeline.status().frame_index;
}

TEST(Pipeline, TheSumOfRelativeSeeksIsLimited) {
  auto unlimited = std::make_unique<SyntheticSource>(Extent{16, 16}, 10);
  unlimited->announce_duration(0);
  Pipeline pipeline(std::move(unlimited), paused("invert"), registry());
  for (int i = 0; i < 20; ++i) pipeline.post(Seek{1'000'000'000'000'000'000, true});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; })) << pipeline.status().frame_index;
}

TEST(Pipeline, APauseBeforeTheFirstPictureShowsIt) {
  Pipeline pipeline(source(100, {16, 16}), paced("invert"), registry());
  pipeline.post(Pause{true});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == 0; })) << "no picture is shown";
  EXPECT_EQ(pipeline.status().processed, 1u);
}

TEST(Pipeline, APauseBeforeThePictureOfASeekShowsIt) {
  constexpr int64_t kTarget = 40;
  std::atomic<bool> go{false};
  auto slow = std::make_unique<SyntheticSource>(Extent{16, 16}, 100);
  slow->wait_at(kTarget, go);
  Pipeline pipeline(std::move(slow), paced("invert"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index >= 0; }));
  pipeline.post(Seek{kTarget * SyntheticSource::kDuration});
  const uint64_t ticket = pipeline.post(Pause{true});
  ASSERT_TRUE(eventually([&] { return pipeline.status().applied >= ticket; }));
  go = true;
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == kTarget; }))
      << "paused at " << pipeline.status().frame_index;
  EXPECT_TRUE(pipeline.status().paused);
}

/// Needs a frame from the time on when `wants` is set.
class JoiningSink final : public FrameSink {
 public:
  bool wants_current_frame() const noexcept override { return wants; }
  bool wants_reruns() const noexcept override { return reruns; }
  void take(const Frame&, const Picture&, const PixelAspects&) override { wants = false, ++taken; }
  void stop_soon() noexcept override {}
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {}; }

  std::atomic<bool> wants{false}, reruns{false};
  std::atomic<int> taken{0};
};

TEST(Pipeline, ASinkThatJoinsWhileNoFrameComesGetsTheCurrentOne) {
  for (const bool at_end : {false, true}) {
    const auto sink = std::make_shared<JoiningSink>();
    PipelineOptions o = at_end ? paced("invert") : paused("invert");
    o.sinks = {sink};
    Pipeline pipeline(source(3, {16, 16}), o, registry());
    pipeline.start();
    const int before = at_end ? 3 : 1;
    ASSERT_TRUE(eventually([&] { return sink->taken == before && pipeline.status().ended == at_end; }));
    sink->wants = true;
    pipeline.wake();
    EXPECT_TRUE(eventually([&] { return sink->taken == before + 1; }));
    EXPECT_EQ(pipeline.status().processed, static_cast<uint64_t>(before));
    pipeline.stop();
    pipeline.check();
  }
}

TEST(Pipeline, ASinkThatJoinsDuringALongPictureGetsIt) {
  constexpr int64_t kHour = 3'600'000'000'000;
  for (const bool last : {false, true})
    for (const bool while_paused : {false, true}) {
      const auto sink = std::make_shared<JoiningSink>();
      PipelineOptions o = paced("invert");
      o.sinks = {sink};
      Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{16, 16}, last ? 1 : 2, -1, kHour), o,
                        registry());
      pipeline.start();
      // From now on the process thread waits in the picture.
      ASSERT_TRUE(eventually([&] { return pipeline.status().position_ns > 0; }));
      if (while_paused) pipeline.post(Pause{true});
      ASSERT_TRUE(eventually([&] { return pipeline.status().paused == while_paused; }));
      ASSERT_EQ(sink->taken.load(), 1);
      sink->wants = true;
      pipeline.wake();
      EXPECT_TRUE(eventually([&] { return sink->taken == 2; }))
          << (last ? "the last picture" : "another one follows") << (while_paused ? ", paused" : "");
      EXPECT_EQ(pipeline.status().processed, 1u);
      pipeline.stop();
      pipeline.check();
    }
}

TEST(Pipeline, ASinkMayGetThePausedFrameWithChangedParameters) {
  const auto sink = std::make_shared<JoiningSink>();
  PipelineOptions o = paused("mosaic");
  o.sinks = {sink};
  Pipeline pipeline(source(3, {64, 48}), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return sink->taken == 1; }));
  sink->reruns = true;
  pipeline.post(SetParam{"mosaic", "block", int64_t{3}});
  EXPECT_TRUE(eventually([&] { return sink->taken == 2; }));
  sink->reruns = false;
  const uint64_t before = pipeline.status().reruns;
  pipeline.post(SetParam{"mosaic", "block", int64_t{5}});
  EXPECT_TRUE(eventually([&] { return pipeline.status().reruns > before; }));
  pipeline.stop();
  EXPECT_EQ(sink->taken, 2) << "a recording would have the picture twice";
  pipeline.check();
}

TEST(Pipeline, TheLastFrameIsShownForItsDuration) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  PipelineOptions o = paced("invert");
  Pipeline pipeline(source(2, {16, 16}), o, registry());
  pipeline.post(SetSpeed{kMinSpeed});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 1; }));
  const int64_t begin = now_ns();
  pipeline.post(Pause{true});
  ASSERT_TRUE(eventually([&] { return pipeline.status().paused; }));
  EXPECT_FALSE(pipeline.status().ended) << "paused at the last frame";
  pipeline.post(Seek{0, false});
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 0; }));
  pipeline.post(Pause{false});
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_GE(static_cast<double>(now_ns() - begin), 0.95 * static_cast<double>(kFrame) / kMinSpeed);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, TheLastFrameOfALimitIsShownForItsDuration) {
  PipelineOptions o = paced("invert");
  o.max_frames = 1;
  Pipeline pipeline(source(2, {16, 16}), o, registry());
  pipeline.post(SetSpeed{kMinSpeed});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().processed == 1; }));
  EXPECT_FALSE(pipeline.status().ended);
  pipeline.post(SetSpeed{kMaxSpeed});
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_EQ(pipeline.status().processed, 1u);
}

TEST(Pipeline, SeeksReachPicturesAfterTheAnnouncedEnd) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  auto growing = std::make_unique<SyntheticSource>(Extent{16, 16}, 100);
  growing->announce_duration(10 * kFrame);
  Pipeline pipeline(std::move(growing), paced("invert"), registry());
  pipeline.post(SetSpeed{kMaxSpeed});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index >= 60; }));
  pipeline.post(Pause{true});
  ASSERT_TRUE(eventually([&] { return pipeline.status().paused; }));
  const int64_t at = pipeline.status().frame_index;
  const uint64_t ticket = pipeline.post(Seek{-20 * kFrame, true});
  ASSERT_TRUE(eventually([&] { return pipeline.status().applied >= ticket; }));
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == at - 20; }))
      << pipeline.status().frame_index << " instead of " << at - 20;
}

TEST(Pipeline, EditsWhileTheLastFrameIsShownAreSeen) {
  PipelineOptions o = paced("threshold");
  Pipeline pipeline(source(1, {16, 16}), o, registry());
  pipeline.post(SetSpeed{kMinSpeed});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 0; }));
  pipeline.post(SetParam{"threshold", "level", 200.0});
  EXPECT_TRUE(eventually([&] { return pipeline.status().reruns == 1; }));
  EXPECT_FALSE(pipeline.status().ended) << "the frame is shown for a second";
  EXPECT_TRUE(pipeline.status().all_decoded);
  pipeline.post(SetSpeed{100.0});
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.stop();
  pipeline.check();
}

/// A source that opens its file again to seek. This takes until it is interrupted.
class ReopeningSource final : public Source {
 public:
  explicit ReopeningSource(std::atomic<bool>& seeks) : seeks_(seeks) {}
  const SourceInfo& info() const override { return inner_.info(); }
  FrameOutcome next(Picture& out) override { return inner_.next(out); }
  void seek(int64_t, int) override {
    seeks_ = true;
    interrupted_.wait(false);
    throw Error(ExitCode::bad_source, "synthetic", "opening was interrupted");
  }
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override { interrupted_ = true, interrupted_.notify_all(); }

 private:
  std::atomic<bool>& seeks_;
  std::atomic<bool> interrupted_{false};
  SyntheticSource inner_{{64, 48}, 1000};
};

TEST(Pipeline, StoppingItDuringASeekIsNoError) {
  std::atomic<bool> seeks{false};
  Pipeline pipeline(std::make_unique<ReopeningSource>(seeks), paced("invert"), registry());
  pipeline.start();
  pipeline.post(Seek{40 * SyntheticSource::kDuration});
  ASSERT_TRUE(eventually([&] { return seeks.load(); }));
  pipeline.stop();
  EXPECT_NO_THROW(pipeline.check());
}

}  // namespace
}  // namespace lensd
