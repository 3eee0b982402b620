// A change of a camera's mode while it plays, through LiveSource with a simulated device.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/media/source.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

TEST(ModeChangeOfASource, TheOldPictureStaysUntilTheNewOneComes) {
  const auto state = std::make_shared<FakeCaptureState>();
  state->formats = {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_UYVY};
  state->push(3);
  SourceOptions options;
  options.live.stall_ns = 300'000'000;
  options.live.camera_device = [state](const std::string&) { return std::make_unique<FakeCapture>(state); };
  const auto source = open_source("/dev/video99", options);
  // A picture that is left for the new mode would end the time that the camera has for the change.
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(state->mutex);
    return state->shots.empty();
  }));
  ASSERT_EQ(source->set_controls({{"format", std::string("UYVY")}}), "");
  Picture picture;
  int pictures = 0;
  /// Reads pictures for `ns`, or until there are `wanted`.
  const auto read = [&](int64_t ns, int wanted) {
    for (const int64_t end = now_ns() + ns; pictures < wanted && now_ns() < end;) {
      if (source->next(picture) != FrameOutcome::ok) continue;
      EXPECT_FALSE(picture.info.placeholder);
      ++pictures;
    }
  };
  read(1'000'000'000, 100);
  EXPECT_GT(pictures, 0);
  {
    const std::lock_guard lock(state->mutex);
    EXPECT_EQ(state->set_format, V4L2_PIX_FMT_UYVY);
  }
  EXPECT_EQ(source->live_status().state, LiveState::playing) << "the camera needs time for its new mode";
  EXPECT_EQ(source->live_status().stalls, 0u);
  state->push(2);
  read(2'000'000'000, pictures + 1);
  EXPECT_EQ(picture.planes.info.format.plane_count, 1u);
  EXPECT_EQ(source->live_status().reconnects, 0u);
  EXPECT_EQ(source->live_status().stalls, 0u);
}

constexpr int64_t kLimitNs = 20'000'000'000;

/// A playing camera with the formats YUYV and UYVY.
struct ChangingCamera : testing::Test {
  ChangingCamera() {
    state->formats = {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_UYVY};
    state->push(3);
    SourceOptions options;
    options.live.camera_device = [state = state](const std::string&) {
      return std::make_unique<FakeCapture>(state);
    };
    source = open_source("/dev/video99", options);
    EXPECT_TRUE(reads_until(LiveState::playing));
  }
  template <class F>
  void change(F set) {
    const std::lock_guard lock(state->mutex);
    set(*state);
  }
  /// Reads until the source has this state. Delivers pictures if `deliver` is set.
  bool reads_until(LiveState wanted, bool deliver = false) {
    for (const int64_t end = now_ns() + kLimitNs; now_ns() < end;) {
      Picture picture;
      if (deliver) state->push(1);
      source->next(picture);
      if (source->live_status().state == wanted) return true;
    }
    return false;
  }
  uint32_t format() {
    const std::lock_guard lock(state->mutex);
    return state->set_format;
  }

  std::shared_ptr<FakeCaptureState> state = std::make_shared<FakeCaptureState>();
  std::unique_ptr<Source> source;
};

TEST_F(ChangingCamera, UnpluggingDuringTheChangeKeepsTheNewMode) {
  change([](FakeCaptureState& now) { now.failures[VIDIOC_QUERYCAP] = ENODEV; });
  ASSERT_EQ(source->set_controls({{"format", std::string("UYVY")}}), "");
  ASSERT_TRUE(reads_until(LiveState::reconnecting));
  change([](FakeCaptureState& now) { now.failures.clear(); });
  ASSERT_TRUE(reads_until(LiveState::playing, true));
  EXPECT_EQ(format(), V4L2_PIX_FMT_UYVY);
  EXPECT_TRUE(source->take_notices().empty());
}

TEST_F(ChangingCamera, AModeThatWasSetWhileTheCameraWasAwayIsReverted) {
  change([](FakeCaptureState& now) { now.gone = true; });
  ASSERT_TRUE(reads_until(LiveState::reconnecting));
  ASSERT_EQ(source->set_controls({{"format", std::string("UYVY")}}), "");
  change([](FakeCaptureState& now) {
    now.gone = false;
    now.start_errors[V4L2_PIX_FMT_UYVY] = ENOSPC;
  });
  ASSERT_TRUE(reads_until(LiveState::playing, true));
  EXPECT_EQ(format(), V4L2_PIX_FMT_YUYV);
  const auto notices = source->take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].text.find("not enough USB bandwidth"), std::string::npos) << notices[0].text;
}

}  // namespace
}  // namespace lensd
