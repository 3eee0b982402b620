// The bar below the picture: its buttons, the wheel, tooltips, and the times of long sources.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

#include "core/base/clock.hpp"
#include "core/image/image.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

class TransportButtons : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    model.sound = SoundState::playing;
    frames(3);
  }
};

TEST_F(TransportButtons, StepByOneFrame) {
  const Step* back = only<Step>(click("transport/step_back"));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->frames, -1);
  const Step* forward = only<Step>(click("transport/step"));
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->frames, 1);
}

TEST_F(TransportButtons, ToggleTheLoopAndTheSound) {
  for (const bool on : {false, true}) {
    model.loop_file = model.muted = on;
    const SetFileLoop* loop = only<SetFileLoop>(click("transport/loop"));
    ASSERT_TRUE(loop);
    EXPECT_EQ(loop->on, !on);
    const SetMute* mute = only<SetMute>(click("transport/mute"));
    ASSERT_TRUE(mute);
    EXPECT_EQ(mute->on, !on);
  }
}

TEST_F(TransportButtons, TheBarOfTheVolumeEndsAt100Percent) {
  const auto volume_at = [&](float part) {
    const Commands& sent = click("transport/volume", 0, part);
    const auto* set = sent.empty() ? nullptr : std::get_if<SetVolume>(&sent.back());
    return set ? set->percent : -1;
  };
  for (const float part : {0.25f, 0.75f}) {
    const double percent = volume_at(part);
    EXPECT_NEAR(percent, 100.0 * static_cast<double>(part), 2);
    EXPECT_EQ(percent, std::round(percent));
  }
}

TEST_F(TransportButtons, TheWheelChangesTheVolumeByFivePercent) {
  const auto turned = [&](const char* widget, double volume, float clicks) {
    model.volume = volume;
    point_at(widget);
    wheel(clicks);
    const SetVolume* set = only<SetVolume>(frame());
    const double percent = set ? set->percent : -1;
    frame();
    return percent;
  };
  for (const char* widget : {"transport/volume", "transport/mute"}) {
    EXPECT_EQ(turned(widget, 50, 1), 55) << widget;
    EXPECT_EQ(turned(widget, 50, -3), 35) << widget;
    EXPECT_EQ(turned(widget, 128, 1), 130) << widget;
    EXPECT_EQ(turned(widget, 3, -1), 0) << widget;
  }
}

TEST_F(TransportButtons, SpeedsAreChosenFromAList) {
  click("transport/speed"), frames(2);
  for (const char* speed : {"0.1×", "0.25×", "0.5×", "1×", "2×", "4×"}) EXPECT_TRUE(drawn(speed)) << speed;
  const auto half = drawn("0.5×");
  ASSERT_TRUE(half);
  point(half->x + 3, half->y + 5), frames(2);
  button(true), frame();
  button(false);
  const SetSpeed* set = only<SetSpeed>(frame());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->speed, 0.5);
}

TEST_F(TransportButtons, TheTooltipsNameTheNextState) {
  hover("transport/pause");
  EXPECT_TRUE(drawn("Pause"));
  model.paused = true, hover("transport/pause");
  EXPECT_TRUE(drawn("Play"));
  model.paused = false, model.ended = true, hover("transport/pause");
  EXPECT_TRUE(drawn("Play from the beginning"));
  model.paused = true, model.seekable = false, hover("transport/pause");
  EXPECT_TRUE(drawn("Play")) << "it cannot be played again";
  hover("transport/loop");
  EXPECT_TRUE(drawn("Loop the file"));
  model.loop_file = true, hover("transport/loop");
  EXPECT_TRUE(drawn("Stop looping the file"));
}

TEST_F(TransportButtons, TheTooltipOfTheSoundHasVolumeAndReason) {
  model.volume = 73;
  hover("transport/mute");
  EXPECT_TRUE(drawn("Volume 73 %"));
  model.muted = true, hover("transport/mute");
  EXPECT_TRUE(drawn("Muted"));
  model.sound = SoundState::no_track, hover("transport/mute");
  EXPECT_TRUE(drawn_from("No sound: the source has no"));
}

TEST_F(TransportButtons, FromAnHourOnTimesHaveHours) {
  model.duration_ns = 3'599'999'000'000, frames(2);
  EXPECT_TRUE(drawn("00:12.480"));
  EXPECT_TRUE(drawn("/ 59:59.999"));
  model.duration_ns = 3'600'000'000'000, frames(2);
  EXPECT_TRUE(drawn("0:00:12.480"));
  EXPECT_TRUE(drawn("/ 1:00:00.000"));
  model.duration_ns = 0, model.position_ns = 3'600'000'000'000, frames(2);
  EXPECT_TRUE(drawn("1:00:00.000"));
  EXPECT_FALSE(drawn_from("/ ")) << "the length is not known";
  EXPECT_FALSE(there("transport/seek"));
}

TEST_F(TransportButtons, ThePointedTimeAndItsChapterAreNamed) {
  model.chapters = {{0, "One"}, {30'000'000'000, "Two"}, {60'000'000'000, ""}};
  point_at("transport/seek", 0.5f), frames(3);
  const int64_t pointed_ns = viewer.state().thumbnail.wanted_ns;
  EXPECT_NEAR(to_s(pointed_ns), 39.75, 0.5);
  EXPECT_TRUE(drawn(clock_text(pointed_ns, false)));
  EXPECT_TRUE(drawn("Chapter 2 of 3: Two"));
  point_at("transport/seek", 0.9f), frames(3);
  EXPECT_TRUE(drawn("Chapter 3 of 3"));
  point_at("transport/pause");
  EXPECT_FALSE(there("transport/chapter"));
  EXPECT_EQ(viewer.state().thumbnail.wanted_ns, -1);
}

TEST_F(TransportButtons, ThumbnailsKeepThePicturesShape) {
  const auto expect_size = [&](float width, float height) {
    point_at("transport/seek", 0.5f), frames(3);
    const Rect r = rect("transport/thumbnail");
    EXPECT_NEAR(r.w, width, 0.5f);
    EXPECT_NEAR(r.h, height, 0.5f);
  };
  point_at("transport/seek", 0.5f), frames(3);
  EXPECT_FALSE(there("transport/thumbnail"));
  model.thumbnails = true;
  expect_size(178.7f, 134);  // 4:3 in 200 × 134
  model.source_aspect = 2;
  expect_size(200, 75);  // 8:3
  model.thumbnail = std::make_shared<const Image>(ImageFormat{PixelFormat::rgba8, {320, 90}});
  expect_size(200, 56.25f);
}

TEST_F(TransportButtons, LiveSourcesHaveAStateInsteadOfSpeedAndLoop) {
  EXPECT_FALSE(there("transport/live"));
  EXPECT_TRUE(there("transport/speed") && there("transport/loop"));
  model.live = model.live_status.live = true, model.live_status.state = LiveState::stalled;
  frames(2);
  EXPECT_TRUE(there("transport/live"));
  EXPECT_FALSE(there("transport/speed") || there("transport/loop") || there("transport/seek"));
  EXPECT_EQ(ink_of("stalled"), colour::text);
  model.live_status.state = LiveState::playing, frames(2);
  EXPECT_EQ(ink_of("live"), colour::text);
}

TEST(LiveColours, OnlyALostConnectionIsAProblem) {
  EXPECT_EQ(state_colour(LiveState::playing), colour::text);
  EXPECT_EQ(state_colour(LiveState::connecting), colour::accent);
  EXPECT_EQ(state_colour(LiveState::stalled), colour::accent);
  EXPECT_EQ(state_colour(LiveState::reconnecting), colour::problem);
}

}  // namespace
}  // namespace lensd::ui
