// Controls that move the camera or the lens with each write.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/core/media/camera/camera_fixture.hpp"

namespace lensd {
namespace {

constexpr uint32_t kPan = V4L2_CID_PAN_RELATIVE, kLamp = 0x0A046D09;

/// A camera with a motor.
struct MovingControls : testing::Test {
  MovingControls() {
    f.device.add(kPan, V4L2_CTRL_TYPE_INTEGER, "Pan, Relative", -9000, 9000, 0, V4L2_CTRL_FLAG_WRITE_ONLY);
    f.device.add(kLamp, V4L2_CTRL_TYPE_INTEGER, "Step", 0, 9, 0,
                 V4L2_CTRL_FLAG_WRITE_ONLY | V4L2_CTRL_FLAG_EXECUTE_ON_WRITE);
    f.connect();
  }
  CameraFixture f{false};
};

TEST_F(MovingControls, MoveOnceForEachRequest) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(f.shared->set({{"pan_relative", int64_t{3600}}, {"step", int64_t{1}}}), "");
  f.service();
  EXPECT_EQ(f.device.written, (std::vector<uint32_t>{kPan, kLamp, kPan, kLamp})) << "both requests count";
  f.connect();
  f.service();
  EXPECT_EQ(f.device.written.size(), 4u) << "not again after a reconnection";
  EXPECT_TRUE(f.shared->current(false)->wanted.empty());
  EXPECT_EQ(f.value("pan_relative"), ParamValue(int64_t{0}));
}

TEST_F(MovingControls, ARequestBeforeTheFirstConnectionMovesOnce) {
  f.shared = std::make_shared<SharedControls>(ControlValues{}, KeptControls{});
  EXPECT_EQ(f.shared->set({{"pan_relative", int64_t{3600}}}), "");
  f.connect();
  f.connect();
  EXPECT_EQ(f.device.written, std::vector<uint32_t>{kPan});
}

TEST_F(MovingControls, AFailedRequestIsNotRepeated) {
  f.device.write_error = EPIPE;  // the camera may have moved nevertheless
  EXPECT_EQ(f.shared->set({{"pan_relative", int64_t{3600}}}), "");
  int64_t time_ns = now_ns();
  for (int i = 0; i < 7; ++i) f.controls->service(time_ns += 150'000'000);
  EXPECT_EQ(f.device.attempts, 1);
  EXPECT_EQ(f.notices(), "cannot set pan_relative to 3600: Broken pipe\n");
}

TEST_F(MovingControls, AreNeitherResetNorSavedWithAllOthers) {
  EXPECT_EQ(f.shared->set({{"pan_relative", int64_t{3600}}, {"gain", int64_t{20}}}), "");
  f.service();
  EXPECT_EQ(values_to_save(*f.shared->current(false)), (ControlValues{{"gain", int64_t{20}}}));
  f.device.written.clear();
  EXPECT_EQ(f.shared->reset({}), "");
  f.service();
  EXPECT_EQ(std::ranges::count(f.device.written, kPan), 0);
  EXPECT_EQ(f.shared->reset({"pan_relative"}), "") << "stops a movement";
}

}  // namespace
}  // namespace lensd
