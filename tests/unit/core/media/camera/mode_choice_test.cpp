// Which mode of a camera is chosen for a requested format, size and rate.
#include <gtest/gtest.h>

#include "core/media/camera/mode_choice.hpp"
#include "core/media/camera/mode_controls.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "core/media/camera/v4l2_modes.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

constexpr uint32_t kYuyv = V4L2_PIX_FMT_YUYV, kMjpg = V4L2_PIX_FMT_MJPEG;

/// A camera with the larger size only as JPEG, and the highest rate only in the smaller size.
std::vector<CameraFormat> webcam() {
  return {{kYuyv, "YUYV", "YUYV 4:2:2", "yuyv422", {{{640, 480}, {30, 15}}}},
          {kMjpg, "MJPG", "Motion-JPEG", "mjpeg", {{{1920, 1080}, {30}}, {{640, 480}, {60, 30}}}}};
}

/// A camera with rates of 1 to 60 and sizes of 320×240 to 1920×1200.
std::vector<CameraFormat> ranges() {
  const auto mode = [](Extent size, double highest) {
    return CameraMode{size, {highest, 30, 1}, 1, highest};
  };
  return {{kYuyv,
           "YUYV",
           "YUYV 4:2:2",
           "yuyv422",
           {mode({1920, 1200}, 60), mode({640, 480}, 100), mode({320, 240}, 100)},
           SizeRange{{320, 240}, {1920, 1200}, {16, 8}}}};
}

TEST(ModeChoice, ARequestedSizeSelectsAFormatThatHasIt) {
  auto formats = webcam();
  for (int order = 0; order < 2; ++order, std::ranges::reverse(formats)) {
    const auto large = choose_mode(formats, {.format = {}, .size = {1920, 1080}});
    ASSERT_TRUE(large);
    EXPECT_EQ(large->code, kMjpg);
    EXPECT_EQ(large->rate, 30);
    EXPECT_EQ(choose_mode(formats, {.format = {}, .size = {640, 480}})->code, kYuyv);
    EXPECT_EQ(choose_mode(formats, {.format = {}, .size = {640, 480}, .rate = 60})->code, kMjpg);
    EXPECT_EQ(choose_mode(formats, {.format = {}, .size = {1920, 1080}, .rate = 60})->code, kMjpg);
  }
}

TEST(ModeChoice, AnUnlistedSizeSelectsTheNearest) {
  const auto small = choose_mode(webcam(), {.format = {}, .size = {320, 240}});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->code, kYuyv);
  EXPECT_EQ(small->size, (Extent{320, 240})) << "the driver decides";
  EXPECT_EQ(choose_mode(webcam(), {.format = {}, .size = {1800, 1000}})->code, kMjpg);
  EXPECT_EQ(choose_mode(webcam(), {.format = "YUYV", .size = {1920, 1080}})->code, kYuyv) << "as requested";
}

TEST(ModeChoice, AFormatWithoutSizesHasEverySize) {
  auto formats = webcam();
  formats.push_back({V4L2_PIX_FMT_NV12, "NV12", "NV12", "nv12", {}});
  EXPECT_EQ(choose_mode(formats, {.format = {}, .size = {800, 600}})->code, V4L2_PIX_FMT_NV12);
  EXPECT_TRUE(offers_mode(formats, {.format = "nv12", .size = {800, 600}, .rate = 25}));
  EXPECT_FALSE(offers_mode(formats, {.format = "MJPG", .size = {800, 600}}));
}

TEST(ModeChoice, ARangeHasAllRatesBetweenItsEnds) {
  EXPECT_EQ(choose_mode(ranges(), {})->rate, 30) << "not the end of the range";
  EXPECT_EQ(choose_mode(ranges(), {.format = {}, .size = {}, .rate = 25})->rate, 25);
  const RequestedMode fast{.format = {}, .size = {1920, 1200}, .rate = 90};
  EXPECT_EQ(choose_mode(ranges(), fast)->rate, 60);
  EXPECT_FALSE(offers_mode(ranges(), fast));
}

TEST(ModeChoice, ARangeHasAllSizesBetweenItsEnds) {
  const RequestedMode inside{.format = {}, .size = {1600, 1200}, .rate = 50};
  EXPECT_TRUE(offers_mode(ranges(), inside));
  EXPECT_EQ(choose_mode(ranges(), inside)->size, (Extent{1600, 1200}));
  EXPECT_EQ(choose_mode(ranges(), {.format = {}, .size = {1600, 1200}, .rate = 90})->rate, 60)
      << "the rates of the next larger size";
  EXPECT_FALSE(offers_mode(ranges(), {.format = {}, .size = {1601, 1200}})) << "not on a step";
}

TEST(ModeChoice, ValuesInARangeDoNotReleaseOthers) {
  ModeControls mode(ranges(), {.format = {}, .size = {1600, 1200}, .rate = 40});
  EXPECT_TRUE(mode.set("size", std::string("640x480")).empty());
  EXPECT_EQ(mode.request().rate, 40);
  EXPECT_TRUE(mode.set("size", std::string("1600x1200")).empty());
}

/// A simulated camera with the sizes of webcam().
std::shared_ptr<FakeCaptureState> simulated_webcam() {
  const auto state = std::make_shared<FakeCaptureState>();
  state->formats = {kYuyv, kMjpg};
  state->sizes = {{kYuyv, {{640, 480}}}, {kMjpg, {{1920, 1080}, {640, 480}}}};
  return state;
}

TEST(ModeChoice, CommonRatesOfARangeAreListed) {
  const auto state = simulated_webcam();
  state->rate_range = true;
  FakeCapture device(state);
  v4l2_capability capability = {};
  ASSERT_TRUE(device.query(VIDIOC_QUERYCAP, capability));
  const CameraMode mode = camera_formats(device, capability)[0].modes.at(0);
  EXPECT_EQ(mode.rates, (std::vector<double>{60, 50, 30, 25, 24, 15, 10, 5, 1}));
  EXPECT_EQ(mode.lowest_rate, 1);
  EXPECT_EQ(mode.highest_rate, 60);
}

TEST(ModeChoice, TheCameraIsSetToTheChosenFormat) {
  const auto state = simulated_webcam();
  const auto controls = std::make_shared<SharedControls>(ControlValues{}, KeptControls{});
  const auto open = [&](Extent size) {
    V4l2Capture capture(std::make_unique<FakeCapture>(state), "/dev/video99", "camera",
                        {.format = {}, .size = size}, {}, controls);
    return capture.size();
  };
  EXPECT_EQ(open({1920, 1080}), (Extent{1920, 1080}));
  EXPECT_EQ(state->set_format, kMjpg);
  EXPECT_TRUE(controls->take_notices().empty());
  for (int connection = 0; connection < 2; ++connection) EXPECT_EQ(open({1800, 1000}), (Extent{1920, 1080}));
  const auto notices = controls->take_notices();
  ASSERT_EQ(notices.size(), 1u) << "once, not at every reconnection";
  EXPECT_EQ(notices[0].text, "the camera delivers 1920×1080 instead of 1800×1000");
}

}  // namespace
}  // namespace lensd
