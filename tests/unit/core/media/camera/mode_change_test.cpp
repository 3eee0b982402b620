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

}  // namespace
}  // namespace lensd
