// The pre-roll: which packets are kept for each distance to the last key frame, and the first frame and times
// of a recording.

#include <gtest/gtest.h>

#include "core/media/output/packet_ring.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

void push(PacketRing& ring, int64_t pts, bool key, int bytes = 100) {
  const ff::PacketPtr packet = ff::make_packet();
  ASSERT_EQ(av_new_packet(packet.get(), bytes), 0);
  packet->pts = packet->dts = pts;
  if (key) packet->flags |= AV_PKT_FLAG_KEY;
  ring.push(*packet);
}

std::vector<int64_t> times(const PacketRing& ring) {
  std::vector<int64_t> all;
  for (const ff::PacketPtr& packet : ring.packets()) all.push_back(packet->pts);
  return all;
}

TEST(PacketRing, StartsWithTheNewestKeyFrameThatIsOldEnough) {
  constexpr int64_t ticks = 25, interval = 10;
  PacketRing ring(ticks, 1'000'000);
  for (int64_t newest = 0; newest < 60; ++newest) {
    push(ring, newest, newest % interval == 0);
    int64_t first = 0;
    for (int64_t key = 0; key <= newest; key += interval)
      if (newest - key >= ticks) first = key;
    const std::vector<int64_t> kept = times(ring);
    ASSERT_EQ(kept.front(), first) << "after " << newest;
    ASSERT_EQ(kept.back(), newest);
    ASSERT_EQ(kept.size(), static_cast<size_t>(newest - first + 1));
  }
}

TEST(PacketRing, DropsWholeGroupsBeyondItsBytes) {
  PacketRing ring(1000, 1000);  // ten packets
  for (int64_t i = 0; i < 10; ++i) push(ring, i, i % 4 == 0);
  EXPECT_EQ(times(ring).front(), 0) << "exactly full";
  push(ring, 10, false);
  EXPECT_EQ(times(ring), (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10}));
  push(ring, 11, false, 2000);  // larger than the ring: nothing fits
  EXPECT_TRUE(times(ring).empty());
  push(ring, 12, false);
  EXPECT_TRUE(times(ring).empty()) << "its key frame is missing";
  push(ring, 13, true);
  push(ring, 14, false);
  EXPECT_EQ(times(ring), (std::vector<int64_t>{13, 14}));
  ring.clear();
  push(ring, 15, false);
  EXPECT_TRUE(times(ring).empty());
}

TEST_F(RecordingTest, ThePrerollBeginsWithTheRightFrameAtEveryKeyPhase) {
  constexpr int64_t interval = 25, preroll = 50;  // in frames: a key frame per second, 2 s
  constexpr int64_t held = 1;                     // the encoder's delay in frames
  for (const int64_t before : {30, 75, 76, 77, 78, 88, 101, 102, 127}) {
    RecordSettings settings;
    settings.encoder.codec = "mpeg2video";
    settings.preroll_seconds = 2;
    Recording recording(settings, 25, "");
    write(recording, 0, before);
    const std::string name = std::to_string(before) + ".mkv";
    recording.start(target(name));
    write(recording, before, 10);
    recording.stop();
    int64_t first = 0;
    for (int64_t key = 0; key < before; key += interval)
      if (before - 1 - held - key >= preroll) first = key;
    EXPECT_EQ(frames_in(file(name)), static_cast<size_t>(before + 10 - first)) << before;
    EXPECT_EQ(recording.report().frames, before + 10 - first) << before;
  }
}

TEST_F(RecordingTest, TimesAfterAJumpAreExact) {
  RecordSettings settings;
  settings.encoder.codec = "ffv1";
  Recording recording(settings, 25, "");
  recording.start(target("jumps.mkv"));
  constexpr int64_t ms = 1'000'000;
  const struct {
    int64_t pts_ms;
    uint32_t serial;
    int64_t written_ms;
  } frames[] = {
      {700, 0, 0},                          // the file begins at 0
      {740, 0, 40},      {900, 0, 200},     // a gap is kept
      {60'000, 1, 240},                     // a seek forward: no gap in the file
      {60'040, 1, 280},  {59'060, 1, 320},  // 980 ms back is late, not a jump: next possible time
      {60'160, 1, 400},                     // same distance to the frames before the late one
      {58'000, 1, 440},                     // more than a second back is a jump
      {58'080, 1, 520},  {58'080, 2, 560},  // a seek to the same place
      {62'080, 2, 4560},
  };
  int number = 0;
  for (const auto& f : frames) {
    FrameInfo info;
    info.index = number, info.pts_ns = f.pts_ms * ms, info.duration_ns = 40 * ms, info.serial = f.serial;
    recording.write(picture(kFormat, number++).ref(), info);
  }
  recording.stop();
  const Decoded read = read_all(*open_source(file("jumps.mkv"), {}));
  ASSERT_EQ(read.infos.size(), std::size(frames));
  for (size_t i = 0; i < read.infos.size(); ++i)
    EXPECT_EQ(read.infos[i].pts_ns, frames[i].written_ms * ms) << "frame " << i;
}

}  // namespace
}  // namespace lensd::test
