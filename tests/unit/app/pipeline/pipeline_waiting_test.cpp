// Commands that arrive while a processed picture waits until it is due: the picture before it is still shown.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/error.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr int64_t kWaitingNs = SyntheticSource::kDuration;

/// A pipeline that shows ten pictures per second.
class PipelineWaiting : public testing::Test {
 protected:
  PipelineWaiting() : pipeline_(source(400), paced("invert"), registry()) {
    pipeline_.post(SetSpeed{0.1});
    pipeline_.start();
  }
  ~PipelineWaiting() override {
    pipeline_.stop();
    EXPECT_NO_THROW(pipeline_.check());
  }
  /// Takes new frames for `ms` milliseconds. Returns the index of the last one so far.
  int64_t shown_after(int ms) {
    const int64_t end = now_ns() + int64_t{ms} * 1'000'000;
    do {
      if (Frame frame = pipeline_.take_newest()) shown_ = std::move(frame);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (now_ns() < end);
    return shown_ ? shown_.info.index : -1;
  }
  /// Waits until frame `index` is shown, then returns the index of the frame that is shown 100 ms later.
  int64_t stays_at(int64_t index) {
    EXPECT_TRUE(eventually([&] { return shown_after(1) == index; })) << "frame " << index;
    return shown_after(100);
  }
  /// Waits for the next frame. Returns its index.
  int64_t next_shown() {
    const int64_t before = shown_ ? shown_.info.index : -1;
    EXPECT_TRUE(eventually([&] { return shown_after(1) > before; }));
    return shown_.info.index;
  }

  Pipeline pipeline_;
  Frame shown_;
};

TEST_F(PipelineWaiting, AStepBackShowsThePictureBeforeTheShownOne) {
  pipeline_.post(Seek{100 * kWaitingNs});
  ASSERT_TRUE(eventually([&] { return shown_after(1) >= 101; }));
  for (int i = 0; i < 4; ++i) {
    const int64_t before = next_shown();
    pipeline_.post(Step{-1});
    EXPECT_EQ(stays_at(before - 1), before - 1);
    pipeline_.post(Pause{false});
  }
}

TEST_F(PipelineWaiting, ASeekAfterAPauseIsShown) {
  for (const int64_t target : {30, 250, 7}) {
    next_shown();
    pipeline_.post(Pause{true});
    pipeline_.post(Seek{target * kWaitingNs});
    EXPECT_EQ(stays_at(target), target);
    pipeline_.post(Pause{false});
  }
}

TEST_F(PipelineWaiting, APausedPictureHasTheNewestParameters) {
  PipelineOptions without = options("invert");
  without.graph.nodes[0].enabled = false;
  Pipeline on(source(400), options("invert"), registry()), off(source(400), without, registry());
  const std::vector<uint64_t> inverted = run_all(on), plain = run_all(off);
  bool enabled = true;
  for (const bool pause_first : {false, true, false, true, false, true}) {
    next_shown();
    enabled = !enabled;
    if (pause_first) pipeline_.post(Pause{true});
    pipeline_.post(SetEnabled{"invert", enabled});
    if (!pause_first) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!pause_first) pipeline_.post(Pause{true});
    const auto newest = [&](int ms) {
      const auto index = static_cast<size_t>(shown_after(ms));
      return index < plain.size() && hash(shown_.image()) == (enabled ? inverted : plain)[index];
    };
    EXPECT_TRUE(eventually([&] { return newest(1) && pipeline_.status().paused; }) && newest(100))
        << "picture " << shown_.info.index << (pause_first ? ", paused first" : "");
    pipeline_.post(Pause{false});
  }
}

/// A plan that is ready when the pause comes, with no time for a picture between them.
TEST(PipelinePause, APlanThatComesWithAPauseIsShown) {
  std::atomic<bool> hold{false}, held{false};
  PipelineOptions options = paced("invert");
  options.on_frame = [&] {
    held = hold.load();
    while (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Pipeline pipeline(source(400), options, registry());
  pipeline.post(SetSpeed{0.1});
  pipeline.start();
  Frame shown;
  const auto next = [&] {
    if (Frame frame = pipeline.take_newest()) shown = std::move(frame);
    return static_cast<bool>(shown);
  };
  ASSERT_TRUE(eventually(next));
  hold = true;
  pipeline.post(SetEnabled{"invert", false});  // applied while the next picture waits until it is due
  ASSERT_TRUE(eventually([&] { return held.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the planner needs less
  pipeline.post(Pause{true});
  hold = false;
  EXPECT_TRUE(eventually([&] {
    next();
    return pipeline.status().paused && pipeline.status().reruns > 0 && shown;
  }));
  pipeline.stop();
}

TEST(PipelineStalled, AFileWithoutItsNextPictureIsStalledAfterASecond) {
  std::atomic<bool> go{false};
  auto synthetic = std::make_unique<SyntheticSource>(Extent{64, 48}, 400);
  synthetic->wait_at(20, go);
  Pipeline pipeline(std::move(synthetic), paced("invert"), registry());
  pipeline.start();
  const int64_t begin_ns = now_ns();
  EXPECT_EQ(pipeline.status().stalled_since_ns, 0);
  ASSERT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns > 0; }));
  EXPECT_GE(now_ns() - begin_ns, kStalledNs);
  EXPECT_GE(pipeline.status().frame_index, 18);
  pipeline.post(Pause{true});
  EXPECT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns == 0; })) << "while paused";
  pipeline.post(Pause{false});
  EXPECT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns > 0; }));
  go = true;
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index > 25; }));
  EXPECT_EQ(pipeline.status().stalled_since_ns, 0);
  pipeline.stop();
}

TEST(PipelineStalled, AFileWhoseDecoderWorksIsNotStalled) {
  std::atomic<bool> go{false};
  auto synthetic = std::make_unique<SyntheticSource>(Extent{64, 48}, 400);
  SyntheticSource& decoding = *synthetic;
  synthetic->wait_at(20, go);
  decoding.data_wait = kStalledNs / 2;
  Pipeline pipeline(std::move(synthetic), paced("invert"), registry());
  pipeline.start();
  EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index >= 18; }));
  std::this_thread::sleep_for(std::chrono::nanoseconds(kStalledNs * 3 / 2));
  EXPECT_EQ(pipeline.status().stalled_since_ns, 0);
  decoding.data_wait = kStalledNs;
  EXPECT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns > 0; }));
  go = true;
  pipeline.stop();
}

TEST(PipelineStalled, ASourceThatFailsIsNotStalledAnyMore) {
  std::atomic<bool> go{false};
  auto synthetic = std::make_unique<SyntheticSource>(Extent{64, 48}, 400, 20);
  synthetic->wait_at(20, go);
  Pipeline pipeline(std::move(synthetic), paced("invert"), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns > 0; }));
  go = true;
  ASSERT_TRUE(eventually([&] { return pipeline.status().failed; }));
  EXPECT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns == 0; }));
  pipeline.stop();
  EXPECT_THROW(pipeline.check(), Error);
}

TEST(PipelineStalled, AFileThatHasEndedOrFailedIsNotStalled) {
  Pipeline failed(std::make_unique<SyntheticSource>(Extent{64, 48}, 400, 3), paced("invert"), registry());
  failed.start();
  Pipeline ended(source(5), options("invert"), registry());
  run_all(ended);
  ASSERT_TRUE(eventually([&] { return failed.status().failed && ended.status().ended; }));
  std::this_thread::sleep_for(std::chrono::nanoseconds(kStalledNs * 11 / 10));
  EXPECT_EQ(failed.status().stalled_since_ns, 0) << "failed";
  EXPECT_EQ(ended.status().stalled_since_ns, 0) << "ended";
  failed.stop(), ended.stop();
}

}  // namespace
}  // namespace lensd
