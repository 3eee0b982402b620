// When LiveSource shows pictures that have sound.
#include "tests/unit/core/media/live/live_source_fixture.hpp"

namespace lensd {
namespace {

class LiveSourceSound : public LiveSourceTest {
 protected:
  /// Makes pictures due `delay_ns` after their timestamps.
  void connect_sound(int64_t delay_ns) {
    audio = std::make_shared<LiveAudio>(0);
    const AVCodecParameters parameters{};
    audio->connected(&parameters, {1, 1}, false);
    audio->publish(audio->number(), delay_ns);
  }
};

TEST_F(LiveSourceSound, PicturesThatAreLaterThanTheirSoundAreDropped) {
  connect_sound(-sec);
  expect_only_newest();
}

TEST_F(LiveSourceSound, PicturesWaitForTheirSound) {
  connect_sound(300 * msec);
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  const Picture first = wait_for(false);
  EXPECT_EQ(first.info.due_ns, first.info.stamp_ns + 300 * msec);
  EXPECT_GE(now_ns(), first.info.due_ns - PlayoutDelay::kPictureLeadNs);
  EXPECT_GE(source->live_status().latency_ns, 300 * msec);

  // Pictures do not wait without sound, for another connection's sound, or for absurd times.
  const auto at_once = [&] {
    script->set([](LiveScript& x) { x.pictures = 1; });
    return wait_for(false).info.due_ns == 0;
  };
  audio->publish(audio->number(), 3600 * sec);
  EXPECT_TRUE(at_once());
  audio->publish(audio->number() + 1, 300 * msec);
  EXPECT_TRUE(at_once());
  audio->publish(0, 0);
  EXPECT_TRUE(at_once());
  EXPECT_LT(source->live_status().latency_ns, 300 * msec);
}

TEST_F(LiveSourceSound, WaitingPicturesLeaveRoomForABurst) {
  connect_sound(1900 * msec);
  script->set([](LiveScript& x) { x.up = true, x.pictures = 40; });
  open(false);
  const int64_t begin = now_ns();
  EXPECT_EQ(wait_for(false).info.due_ns, 0) << "more than three quarters are full";
  EXPECT_LT(now_ns() - begin, 1500 * msec);
  EXPECT_EQ(source->live_status().dropped, 0u);
}

TEST_F(LiveSourceSound, WithLowLatencyPicturesDoNotWait) {
  low_latency = true;
  connect_sound(300 * msec);
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  EXPECT_EQ(wait_for(false).info.due_ns, 0);
}

}  // namespace
}  // namespace lensd
