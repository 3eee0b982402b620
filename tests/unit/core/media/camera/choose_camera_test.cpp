// Which camera is opened if no source is named.
#include <gtest/gtest.h>

#include "core/media/camera/v4l2_device.hpp"
#include "core/media/cameras.hpp"

namespace lensd {
namespace {

Camera camera(const std::string& path, const std::string& format, bool raw = false) {
  Camera out;
  out.path = path, out.raw = raw;
  out.formats.resize(2);
  out.formats[1].format = format;
  return out;
}

PipewireNode node(const std::string& name, bool device, bool v4l2) {
  PipewireNode out;
  out.name = name, out.camera = true, out.device = device, out.v4l2 = v4l2;
  return out;
}

const Camera kRaw = camera("/dev/video0", "uyvy422", true);
const Camera kDepth = camera("/dev/video1", "");
const Camera kWebcam = camera("/dev/video2", "mjpeg");
const Camera kOther = camera("/dev/video3", "mjpeg");

std::string chosen(const std::vector<Camera>& cameras, const std::vector<PipewireNode>& nodes = {},
                   const std::string& closed = "") {
  return choose_camera(
      cameras, [&](const std::string& path) { return path != closed; }, [&] { return nodes; });
}

TEST(ChooseCamera, TakesTheFirstThatMayPlay) {
  EXPECT_EQ(chosen({kWebcam, kOther}), "/dev/video2");
  EXPECT_EQ(chosen({kWebcam, kOther}, {}, "/dev/video2"), "/dev/video3") << "cannot be opened";
  EXPECT_EQ(chosen({}), "");
}

TEST(ChooseCamera, TakesTheLink) {
  Camera linked = kWebcam;
  linked.by_id = "/dev/v4l/by-id/usb-webcam";
  EXPECT_EQ(chosen({linked}), linked.by_id);
}

TEST(ChooseCamera, SkipsRawNodesAndUnreadableFormats) {
  EXPECT_EQ(chosen({kRaw, kDepth, kWebcam}), "/dev/video2");
  EXPECT_EQ(chosen({kRaw, kDepth}), "");
}

TEST(ChooseCamera, TakesPipewiresCameraIfNoDevicePlays) {
  const PipewireNode copy = node("v4l2_input.usb", true, true);
  const PipewireNode program = node("lensd", false, false);
  const PipewireNode tablet = node("libcamera_input.front", true, false);
  EXPECT_EQ(chosen({kRaw}, {copy, program, tablet}), "pipewire:libcamera_input.front");
  EXPECT_EQ(chosen({kRaw}, {copy, program}), "");
  EXPECT_EQ(chosen({kWebcam}, {tablet}), "/dev/video2");
}

TEST(ChooseCamera, RawNodesHaveAMediaGraph) {
  v4l2_capability capability = {};
  capability.capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  EXPECT_FALSE(is_raw_node(capability));
  capability.capabilities |= V4L2_CAP_IO_MC;
  EXPECT_TRUE(is_raw_node(capability));
  capability.capabilities |= V4L2_CAP_DEVICE_CAPS;
  EXPECT_FALSE(is_raw_node(capability)) << "another node of the device";
}

}  // namespace
}  // namespace lensd
