// A paced pipeline plays in a loop: the whole file, or the part from A to B.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

TEST(Pipeline, AStillPictureDoesNotLoop) {
  auto still = std::make_unique<SyntheticSource>(Extent{16, 16}, 1);
  still->make_still();
  PipelineOptions o = paced("invert");
  o.loop_file = true;
  Pipeline pipeline(std::move(still), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.post(SetFileLoop{false});
  pipeline.post(SetFileLoop{true});
  const uint64_t ticket = pipeline.post(SetLoop{.file = true, .a_ns = 0, .b_ns = 1});
  ASSERT_TRUE(eventually([&] { return pipeline.status().applied >= ticket; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(pipeline.status().processed, 1u);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, EnablingLoopAtTheEndRestarts) {
  PipelineOptions o = paced("invert");
  Pipeline pipeline(source(10), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.post(SetLoop{true});
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed > 20; }));
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, ALoopThatIsSetAtTheEndBegins) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  Pipeline pipeline(source(10, {16, 16}), paced("invert"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.post(SetLoop{.file = false, .a_ns = 5 * kFrame, .b_ns = 9 * kFrame});
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed > 20; }))
      << "at frame " << pipeline.status().frame_index;
}

TEST(Pipeline, ALoopWhoseEndIsItsStartIsNoLoop) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  Pipeline pipeline(source(10, {16, 16}), paced("invert"), registry());
  pipeline.post(SetLoop{.file = false, .a_ns = 5 * kFrame, .b_ns = 5 * kFrame});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; })) << pipeline.status().frame_index;
  EXPECT_EQ(pipeline.status().processed, 10u);
}

TEST(Pipeline, ALoopThatEndsWithinTheLastPictureOrAfterItRepeats) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  for (const int64_t b_ns : {9 * kFrame + kFrame / 2, 20 * kFrame}) {
    Pipeline pipeline(source(10, {16, 16}), paced("invert"), registry());
    pipeline.post(SetLoop{.file = false, .a_ns = 5 * kFrame, .b_ns = b_ns});
    pipeline.start();
    EXPECT_TRUE(eventually([&] { return pipeline.status().processed > 20; }))
        << "B at " << b_ns << ", ended at frame " << pipeline.status().frame_index;
    EXPECT_FALSE(pipeline.status().ended);
    EXPECT_TRUE(eventually([&] {
      pipeline.post(Step{1});
      return pipeline.status().ended;
    })) << "steps while paused leave the loop";
    pipeline.stop();
    pipeline.check();
  }
}

TEST(Pipeline, ALoopOfTheLastPictureRepeats) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  Pipeline pipeline(source(10, {16, 16}), paced("invert"), registry());
  pipeline.post(SetLoop{.file = false, .a_ns = 9 * kFrame, .b_ns = 20 * kFrame});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed > 15; }))
      << "ended at frame " << pipeline.status().frame_index;
  EXPECT_FALSE(pipeline.status().ended);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, ALoopThatEndsWithinAShortPictureWaitsForTheNextOne) {
  constexpr int64_t kFrame = 200'000'000;  // too short for a position that advances within it
  std::atomic<int> changes{0};
  PipelineOptions o = paced("invert");
  o.on_change = [&] { ++changes; };
  Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{16, 16}, 10, -1, kFrame), o, registry());
  pipeline.post(SetLoop{.file = false, .a_ns = 0, .b_ns = kFrame / 10});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed >= 8; }));
  EXPECT_LE(pipeline.status().frame_index, 1);
  pipeline.stop();
  pipeline.check();
  EXPECT_LT(changes.load(), 500) << "the process thread does not wait";
}

TEST(Pipeline, ALoopAfterTheLastPictureEnds) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  Pipeline pipeline(source(10, {16, 16}), paced("invert"), registry());
  pipeline.post(SetLoop{.file = false, .a_ns = 30 * kFrame, .b_ns = 40 * kFrame});
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_EQ(pipeline.status().processed, 10u);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, ASeekBeyondTheEndOfALoopPlaysOn) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  Pipeline pipeline(source(30, {16, 16}), paced("invert"), registry());
  pipeline.post(SetLoop{.file = false, .a_ns = 5 * kFrame, .b_ns = 9 * kFrame});
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().processed > 15; }));
  pipeline.post(Seek{20 * kFrame});
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; })) << pipeline.status().frame_index;
  const uint64_t before = pipeline.status().processed;
  pipeline.post(Seek{7 * kFrame});
  EXPECT_TRUE(eventually([&] { return pipeline.status().processed > before + 15; }))
      << "the loop is without effect after a seek back into it";
  EXPECT_FALSE(pipeline.status().ended);
  EXPECT_LE(pipeline.status().frame_index, 9);
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, ReportsItsLoopsAndKeepsAAndBWhenTheFileLoops) {
  Pipeline pipeline(source(10, {16, 16}), paused("invert"), registry());
  pipeline.start();
  const auto applied = [&](Command command) {
    const uint64_t ticket = pipeline.post(std::move(command));
    return eventually([&] { return pipeline.status().applied >= ticket; });
  };
  ASSERT_TRUE(applied(SetLoop{.file = false, .a_ns = 1, .b_ns = 7}));
  ASSERT_TRUE(applied(SetFileLoop{true}));
  const PipelineStatus status = pipeline.status();
  EXPECT_TRUE(status.loop_file);
  EXPECT_EQ(status.loop_a_ns, 1);
  EXPECT_EQ(status.loop_b_ns, 7);
}

TEST(Pipeline, TheFrameLimitEndsPlaybackAlsoInALoop) {
  PipelineOptions o = paced("invert");
  o.max_frames = 3, o.loop_file = true;
  Pipeline pipeline(source(2, {16, 16}), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  EXPECT_EQ(pipeline.status().processed, 3u);
  EXPECT_EQ(pipeline.status().frame_index, 0) << "the third picture is the first one again";
  pipeline.stop();
  pipeline.check();
}

TEST(Pipeline, WhilePausedALoopShowsTheFramesAfterItsEnd) {
  Pipeline pipeline(source(100), paused("invert"), registry());
  pipeline.start();
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  pipeline.post(Seek{20 * kFrame, false});
  ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 20; }));
  pipeline.post(SetLoop{.file = false, .a_ns = 10 * kFrame, .b_ns = 20 * kFrame});
  for (int i = 1; i <= 3; ++i) {
    pipeline.post(Step{1});
    ASSERT_TRUE(eventually([&] { return pipeline.status().frame_index == 20 + i; }))
        << pipeline.status().frame_index;
  }
  pipeline.post(Pause{false});
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index < 20; }))
      << "playback returns to A, but is at " << pipeline.status().frame_index;
  pipeline.stop();
  pipeline.check();
}

/// A source without any picture after a seek, like a file whose content was removed.
class EmptiedSource final : public Source {
 public:
  const SourceInfo& info() const override { return inner_.info(); }
  FrameOutcome next(Picture& out) override {
    return emptied_ ? FrameOutcome::end_of_stream : inner_.next(out);
  }
  void seek(int64_t, int) override { emptied_ = true; }
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override { inner_.interrupt(); }

 private:
  bool emptied_ = false;
  SyntheticSource inner_{{16, 16}, 3};
};

TEST(Pipeline, ALoopWithoutPicturesEnds) {
  constexpr int64_t kFrame = SyntheticSource::kDuration;
  for (const SetLoop& loop : {SetLoop{.file = true, .a_ns = -1, .b_ns = -1},
                              SetLoop{.file = false, .a_ns = kFrame, .b_ns = 5 * kFrame / 2}}) {
    Pipeline pipeline(std::make_unique<EmptiedSource>(), paced("invert"), registry());
    pipeline.post(loop);
    pipeline.start();
    EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }))
        << (loop.file ? "of the file" : "from A to B");
    EXPECT_EQ(pipeline.status().processed, 3u);
    pipeline.stop();
    pipeline.check();
  }
}

}  // namespace
}  // namespace lensd
