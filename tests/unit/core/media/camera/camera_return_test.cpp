// A camera that returns with other formats or inputs than before, through LiveSource with a simulated device.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/source.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

struct ReturningCamera {
  std::unique_ptr<Source> open() {
    options.live.camera_device = [state = state](const std::string&) {
      return std::make_unique<FakeCapture>(state);
    };
    return open_source("/dev/video99", options);
  }
  template <class F>
  void change(F set) {
    const std::lock_guard lock(state->mutex);
    set(*state);
  }

  std::shared_ptr<FakeCaptureState> state = std::make_shared<FakeCaptureState>();
  SourceOptions options;
};

/// Reads until done(live status) is true. Returns false after 20 s. Fails the test if next() throws.
template <class F>
bool reads_until(Source& source, F done) {
  constexpr int64_t kLimitNs = 20'000'000'000;
  for (const int64_t end = now_ns() + kLimitNs; now_ns() < end && !testing::Test::HasFailure();) {
    Picture picture;
    EXPECT_NO_THROW(source.next(picture));
    if (done(source.live_status())) return true;
  }
  return false;
}

void expect_return(ReturningCamera& camera, const std::string& reason) {
  camera.state->push(3);
  const auto source = camera.open();
  ASSERT_TRUE(reads_until(*source, [](const LiveStatus& status) { return status.frames > 0; }));
  const auto formats = camera.state->formats;
  camera.change([](FakeCaptureState& state) {
    state.gone = true;
    state.formats = {V4L2_PIX_FMT_UYVY}, state.inputs = 1;
  });
  ASSERT_TRUE(reads_until(*source, [](const LiveStatus& s) { return s.state == LiveState::reconnecting; }));
  camera.change([](FakeCaptureState& state) { state.gone = false; });
  ASSERT_TRUE(reads_until(*source, [&](const LiveStatus& s) { return s.reason == reason; }))
      << source->live_status().reason;
  EXPECT_EQ(source->live_status().state, LiveState::reconnecting);
  camera.change([&](FakeCaptureState& state) { state.formats = formats, state.inputs = 2; });
  camera.state->push(3);
  EXPECT_TRUE(reads_until(*source, [](const LiveStatus& s) { return s.state == LiveState::playing; }));
}

TEST(CameraReturn, AMissingFormatIsRetriedOnceTheCameraHasPlayed) {
  ReturningCamera camera;
  camera.options.live.format = "YUYV";
  expect_return(camera, "the camera has no format 'YUYV'");
}

TEST(CameraReturn, AMissingInputIsRetriedOnceTheCameraHasPlayed) {
  ReturningCamera camera;
  camera.state->inputs = 2;
  camera.options.live.extra = {{"channel", "1"}};
  expect_return(camera, "the camera has no input '1'");
}

TEST(CameraReturn, AMissingFormatAtTheStartIsPermanent) {
  ReturningCamera camera;
  camera.options.live.format = "UYVY";
  try {
    camera.open();
    ADD_FAILURE() << "the camera opens";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
  }
}

}  // namespace
}  // namespace lensd
