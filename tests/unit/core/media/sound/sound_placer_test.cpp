// SoundPlacer: inserted silence, skipped sound, and the clock. SoundQueue: only frames of the requested
// seek.
#include <gtest/gtest.h>

#include "core/media/sound/sound_placer.hpp"
#include "core/media/sound/sound_queue.hpp"

namespace lensd {
namespace {

constexpr int64_t kMillis = 1'000'000;

SoundBlock block(int64_t media_ns, size_t frames, float value = 1) {
  return {media_ns, std::vector<float>(frames * kSoundChannels, value)};
}

TEST(SoundPlacer, InsertsSilenceBeforeSoundThatIsEarlyAndSkipsWhatIsLate) {
  SoundPlacer placer;
  placer.start(1000 * kMillis, 5000 * kMillis, 1);
  const auto early = placer.place(1000 * kMillis, 4990 * kMillis);
  EXPECT_EQ(early.silence, 480);
  EXPECT_EQ(early.skip, 0);
  const auto late = placer.place(1000 * kMillis, 5010 * kMillis);
  EXPECT_EQ(late.silence, 0);
  EXPECT_EQ(late.skip, 480);
  EXPECT_FALSE(placer.placed());
  placer.corrected(1010 * kMillis);
  EXPECT_TRUE(placer.placed());
  EXPECT_EQ(placer.wall_ns(), 5000 * kMillis);
}

TEST(SoundPlacer, CountsAtThePlaybackSpeed) {
  SoundPlacer placer;
  placer.start(0, 0, 2);
  EXPECT_EQ(placer.place(100 * kMillis, 0).silence, 50 * 48)
      << "100 ms of media are 50 ms at twice the speed";
}

TEST(SoundPlacer, TheClockFollowsASmallDriftAndTheSoundIsNotTouched) {
  SoundPlacer placer;
  placer.start(0, 0, 1);
  placer.place(0, 0);
  for (int64_t i = 1; i <= 200; ++i) {  // the device plays 0.1 % too slowly
    const auto fix = placer.place(i * 10 * kMillis, i * 10 * kMillis + i * 10'000);
    EXPECT_EQ(fix.silence + fix.skip, 0);
    placer.written((i + 1) * 10 * kMillis);
  }
  EXPECT_GT(placer.wall_ns(), 1'500'000);
  EXPECT_LT(placer.wall_ns(), 2'000'000);
}

TEST(SoundPlacer, ALargeDeviationAndAGapAreCorrectedInTheSound) {
  SoundPlacer placer;
  placer.start(0, 0, 1);
  placer.place(0, 0);
  placer.written(10 * kMillis);
  EXPECT_EQ(placer.place(10 * kMillis, 110 * kMillis).skip, 4800) << "the device was stopped for 100 ms";
  placer.corrected(110 * kMillis);
  placer.written(120 * kMillis);
  EXPECT_EQ(placer.place(150 * kMillis, 120 * kMillis).silence, 1440) << "the audio has a gap of 30 ms";
  placer.corrected(150 * kMillis);
  placer.lost();
  EXPECT_EQ(placer.place(150 * kMillis, 151 * kMillis).skip, 48) << "exact after a loss";
  EXPECT_EQ(placer.wall_ns(), 0) << "the pictures were not moved";
}

TEST(SoundQueue, GivesTheFramesOfItsSeekOnly) {
  SoundQueue queue;
  queue.restart(3, 2);
  queue.push(block(100 * kMillis, 480, 0.5f));
  queue.push(block(120 * kMillis, 480, 0.25f));
  EXPECT_FALSE(queue.front(2));
  EXPECT_EQ(queue.frames(), 960u);
  std::vector<float> out;
  EXPECT_EQ(queue.consume(2, 10, &out), 0u);
  EXPECT_EQ(queue.consume(3, 240, &out), 240u);
  EXPECT_EQ(out.size(), 480u);
  EXPECT_EQ(queue.front(3)->media_ns, 110 * kMillis) << "240 frames at twice the speed are 10 ms of media";
  EXPECT_EQ(queue.front(3)->frames, 240u);
  EXPECT_EQ(queue.consume(3, 1000, nullptr), 240u) << "up to the end of the block";
  EXPECT_EQ(queue.front(3)->media_ns, 120 * kMillis);
  queue.end();
  EXPECT_FALSE(queue.over(3));
  EXPECT_EQ(queue.consume(3, 1000, nullptr), 480u);
  EXPECT_TRUE(queue.over(3));
  EXPECT_FALSE(queue.over(2));
  queue.restart(4, 1);
  EXPECT_FALSE(queue.over(4));
}

}  // namespace
}  // namespace lensd
