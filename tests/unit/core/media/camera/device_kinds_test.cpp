// Which device nodes are cameras, now or later.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

v4l2_capability node(uint32_t capabilities) {
  v4l2_capability out = {};
  // The device as a whole captures video; the node may not.
  out.capabilities = V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  out.device_caps = capabilities;
  return out;
}

TEST(DeviceKinds, ACameraCaptures) {
  for (const uint32_t kind : {V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_VIDEO_CAPTURE_MPLANE}) {
    EXPECT_EQ(never_captures(node(kind | V4L2_CAP_STREAMING)), "");
    EXPECT_EQ(capture_obstacle(node(kind | V4L2_CAP_STREAMING)), "");
  }
}

TEST(DeviceKinds, AMetadataNodeNeverCaptures) {
  const std::string text = "this device delivers no video (a camera often has a second node for metadata)";
  for (const uint32_t kind : {V4L2_CAP_META_CAPTURE, V4L2_CAP_VBI_CAPTURE, V4L2_CAP_SDR_CAPTURE}) {
    EXPECT_EQ(never_captures(node(kind | V4L2_CAP_STREAMING)), text);
    EXPECT_EQ(capture_obstacle(node(kind | V4L2_CAP_STREAMING)), text);
  }
}

TEST(DeviceKinds, ALoopbackDeviceWaitsForItsProducer) {
  for (const uint32_t kind : {V4L2_CAP_VIDEO_OUTPUT, V4L2_CAP_VIDEO_OUTPUT_MPLANE}) {
    EXPECT_EQ(never_captures(node(kind | V4L2_CAP_STREAMING)), "");
    EXPECT_EQ(capture_obstacle(node(kind | V4L2_CAP_STREAMING)),
              "no program sends pictures to this loopback device yet");
    EXPECT_EQ(capture_obstacle(node(kind | V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)), "");
  }
}

TEST(DeviceKinds, ADeviceWithoutStreamingIsNamed) {
  const std::string text = "lensd does not read devices without streaming I/O";
  EXPECT_EQ(never_captures(node(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_READWRITE)), text);
  EXPECT_EQ(capture_obstacle(node(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_READWRITE)), text);
}

TEST(DeviceKinds, OpeningALoopbackDeviceMayBeRetried) {
  const auto state = std::make_shared<FakeCaptureState>();
  state->capabilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_STREAMING;
  try {
    V4l2Capture(std::make_unique<FakeCapture>(state), "/dev/video99", "camera", {}, {});
    FAIL() << "opened";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_source);
    EXPECT_EQ(e.problem(), "no program sends pictures to this loopback device yet");
  }
}

TEST(DeviceKinds, TextsMayBeEmptyOrFillTheirField) {
  const unsigned char nothing[4] = {}, part[4] = {'a', 'b', 0, 'c'}, full[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(v4l2_text(nothing), "");
  EXPECT_EQ(v4l2_text(part), "ab");
  EXPECT_EQ(v4l2_text(full), "abcd");
}

}  // namespace
}  // namespace lensd
