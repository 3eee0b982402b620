// Pictures that are shown for long, such as stills in a clip: commands concern the shown one. Also the end of
// a file whose sound is longer than its pictures.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/seq_lock.hpp"
#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000, kStillNs = 800 * kMillisecondNs;

std::unique_ptr<Source> stills(int64_t count, int64_t duration_ns = kStillNs) {
  return std::make_unique<SyntheticSource>(Extent{16, 16}, count, -1, duration_ns);
}

class PipelineLongPicture : public testing::Test {
 protected:
  PipelineLongPicture() : pipeline_(stills(20), paced("invert"), registry()) { pipeline_.start(); }
  ~PipelineLongPicture() override {
    pipeline_.stop();
    EXPECT_NO_THROW(pipeline_.check());
  }
  int64_t index() const { return pipeline_.status().frame_index; }
  int64_t position() const { return pipeline_.status().position_ns; }
  /// Applies a command in the middle of picture `index`.
  void in_the_middle_of(int64_t index, const Command& command) {
    ASSERT_TRUE(eventually([&] { return position() >= index * kStillNs + 250 * kMillisecondNs; }));
    ASSERT_EQ(this->index(), index) << "the machine is too slow for this test";
    apply(command);
  }
  void apply(const Command& command) {
    const uint64_t ticket = pipeline_.post(command);
    ASSERT_TRUE(eventually([&] { return pipeline_.status().applied >= ticket; }));
  }

  Pipeline pipeline_;
};

TEST_F(PipelineLongPicture, APauseKeepsItAndItsRemainingTime) {
  in_the_middle_of(1, Pause{true});
  const int64_t paused_at = position();
  EXPECT_GT(paused_at, kStillNs + 200 * kMillisecondNs);
  std::this_thread::sleep_for(std::chrono::nanoseconds(kStillNs));
  EXPECT_EQ(index(), 1);
  EXPECT_EQ(position(), paused_at);
  const int64_t begin = now_ns();
  apply(Pause{false});
  ASSERT_TRUE(eventually([&] { return index() == 2; }));
  EXPECT_GE(now_ns() - begin, 2 * kStillNs - paused_at - 20 * kMillisecondNs);
  EXPECT_LT(now_ns() - begin, kStillNs) << "only the rest of its time";
}

TEST_F(PipelineLongPicture, AChangeOfSpeedKeepsIt) {
  in_the_middle_of(1, SetSpeed{0.1});
  const int64_t changed_at = position();
  std::this_thread::sleep_for(std::chrono::nanoseconds(kStillNs));
  EXPECT_EQ(index(), 1);
  EXPECT_LT(position() - changed_at, kStillNs / 2);
  apply(SetSpeed{20});
  EXPECT_TRUE(eventually([&] { return pipeline_.status().ended; }));
  EXPECT_EQ(pipeline_.status().processed, 20u);
}

TEST_F(PipelineLongPicture, AChangedParameterIsSeenInIt) {
  ASSERT_TRUE(eventually([&] { return index() == 1; }));
  pipeline_.take_newest();
  in_the_middle_of(1, SetEnabled{"invert", false});
  Frame frame;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(frame = pipeline_.take_newest()); }));
  EXPECT_EQ(frame.info.index, 1);
  EXPECT_EQ(pipeline_.status().reruns, 1u);
}

TEST_F(PipelineLongPicture, StepsAndSeeksStartFromIt) {
  in_the_middle_of(1, Step{-1});
  EXPECT_TRUE(eventually([&] { return index() == 0; }));
  apply(Step{1}), apply(Step{1});
  EXPECT_TRUE(eventually([&] { return index() == 2; })) << index();
  apply(Pause{false});
  in_the_middle_of(3, Seek{kStillNs, true});
  EXPECT_TRUE(eventually([&] { return index() == 5; })) << "from within picture 3: " << index();
}

TEST_F(PipelineLongPicture, ALoopMayEndWithinIt) {
  apply(SetLoop{.file = false, .a_ns = kStillNs, .b_ns = kStillNs + 300 * kMillisecondNs});
  EXPECT_TRUE(eventually([&] {
    EXPECT_LE(index(), 1);
    return pipeline_.status().processed >= 5;
  })) << pipeline_.status().processed;
}

TEST(PipelineLongGap, IsShownForAsLongAsTheFileSays) {
  constexpr int64_t kLongNs = 11'000 * kMillisecondNs;
  for (const bool announced : {true, false}) {
    auto source = std::make_unique<SyntheticSource>(Extent{16, 16}, 3, -1, kLongNs);
    source->forget_durations();
    if (!announced) source->announce_duration(0);
    Pipeline pipeline(std::move(source), paced("invert"), registry());
    pipeline.start();
    if (announced) {
      EXPECT_TRUE(eventually([&] { return pipeline.status().position_ns > 300 * kMillisecondNs; }));
      EXPECT_EQ(pipeline.status().frame_index, 0);
    } else {
      EXPECT_TRUE(eventually([&] { return pipeline.status().frame_index == 2; })) << "taken for jumps";
    }
    pipeline.stop();
    EXPECT_NO_THROW(pipeline.check());
  }
}

/// Sound that is heard exactly when its cue says so, and ends at `end_ns`, which is known 100 ms before.
class ExactSound final : public PlaybackSound {
 public:
  explicit ExactSound(int64_t end_ns) : end_ns_(end_ns) {}
  void cue(const SoundCue& cue) noexcept override { cue_.store(cue); }
  SoundClock clock() const noexcept override {
    const SoundCue cue = cue_.load();
    const int64_t rest_ns = end_ns_ - (cue.pts_ns + now_ns() - cue.wall_ns);
    const bool known = cue.playing && rest_ns < 100 * kMillisecondNs;
    return {cue.run, cue.playing && rest_ns > 0, cue.pts_ns, cue.wall_ns, known ? end_ns_ : INT64_MAX};
  }
  int64_t lead_ns() const noexcept override { return 0; }
  void set_volume(double) noexcept override {}
  void set_muted(bool) noexcept override {}
  double volume() const noexcept override { return 100; }
  bool muted() const noexcept override { return false; }
  SoundState state() const noexcept override { return SoundState::playing; }
  std::vector<Notice> take_notices() override { return {}; }
  SoundCue last_cue() const { return cue_.load(); }

 private:
  const int64_t end_ns_;
  SeqLock<SoundCue> cue_;
};

TEST(PipelineSound, TheLastPictureIsShownUntilTheSoundEnds) {
  constexpr int64_t kPictureNs = 40 * kMillisecondNs;
  for (const int64_t end_ns : {700 * kMillisecondNs, 150 * kMillisecondNs}) {
    PipelineOptions o = paced("invert");
    o.sound = std::make_shared<ExactSound>(end_ns);
    Pipeline pipeline(stills(2, kPictureNs), o, registry());
    const int64_t begin = now_ns();
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
    const bool waited = now_ns() - begin >= end_ns;
    EXPECT_EQ(pipeline.status().position_ns > kPictureNs, end_ns > 400 * kMillisecondNs);
    if (end_ns > 400 * kMillisecondNs) {
      EXPECT_TRUE(waited);
    }
    pipeline.stop();
    EXPECT_NO_THROW(pipeline.check());
  }
}

TEST(PipelineSound, ReturnsAfterAPauseDuringTheLastPicture) {
  const auto sound = std::make_shared<ExactSound>(kStillNs);
  PipelineOptions o = paced("invert");
  o.sound = sound;
  Pipeline pipeline(stills(1), o, registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().position_ns >= 250 * kMillisecondNs; }));
  pipeline.post(Pause{true});
  ASSERT_TRUE(eventually([&] { return pipeline.status().paused; }));
  const int64_t paused_at = pipeline.status().position_ns;
  EXPECT_FALSE(sound->last_cue().playing);
  pipeline.post(Pause{false});
  ASSERT_TRUE(eventually([&] { return sound->last_cue().playing; }));
  EXPECT_EQ(sound->last_cue().pts_ns, paused_at);
  EXPECT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.stop();
  EXPECT_NO_THROW(pipeline.check());
}

}  // namespace
}  // namespace lensd
