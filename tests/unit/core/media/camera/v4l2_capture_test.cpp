// V4l2Capture on a simulated device: what opening refuses and what it retries.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "core/media/live/live_options.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

struct Fixture {
  std::unique_ptr<V4l2Capture> open(const V4l2Capture::Options& options = {},
                                    const RequestedMode& mode = {}) {
    return std::make_unique<V4l2Capture>(std::make_unique<FakeCapture>(state), "/dev/video99", "camera", mode,
                                         options);
  }
  /// Returns the error of opening; fails the test if there is none.
  Error problem(const V4l2Capture::Options& options = {}, const RequestedMode& mode = {}) {
    try {
      open(options, mode);
    } catch (const Error& e) {
      return e;
    }
    ADD_FAILURE() << "the camera opens";
    return Error(ExitCode::done, "", "");
  }

  std::shared_ptr<FakeCaptureState> state = std::make_shared<FakeCaptureState>();
};

TEST(V4l2Capture, FormatsHaveTwoNames) {
  Fixture f;
  f.state->formats = {V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_HSV24};
  f.open({}, {.format = "YUYV"});
  EXPECT_EQ(f.state->set_format, V4L2_PIX_FMT_YUYV);
  f.open({}, {.format = "nv12"});
  EXPECT_EQ(f.state->set_format, V4L2_PIX_FMT_NV12);
  const Error unread = f.problem({}, {.format = "HSV3"});
  EXPECT_EQ(unread.code(), ExitCode::invalid_config);
  EXPECT_EQ(std::string(unread.what()),
            "camera: lensd does not read the camera's format HSV3 (a format) (it reads NV12, YUYV)");
  EXPECT_EQ(f.problem({}, {.format = "MJPG"}).problem(), "the camera has no format 'MJPG'");
}

TEST(V4l2Capture, FormatsAreCheckedWithoutACamera) {
  const auto code = [](const char* format) {
    LiveOptions live;
    live.format = format;
    try {
      check_live_source("/dev/video99", live);
    } catch (const Error& e) {
      return e.code();
    }
    return ExitCode::done;
  };
  for (const char* format : {"mjpeg", "yuyv422", "YUYV", "Y16-BE", "HSV3"})
    EXPECT_EQ(code(format), ExitCode::done);
  EXPECT_EQ(code("mjpge"), ExitCode::invalid_config) << "neither a name nor a code";
}

TEST(V4l2Capture, WhatTheCameraDoesNotHaveIsPermanent) {
  Fixture f;
  EXPECT_EQ(f.problem({{"channel", "3"}}).code(), ExitCode::invalid_config);
  EXPECT_EQ(f.problem({{"channel", "x"}}).code(), ExitCode::invalid_config);
  EXPECT_EQ(f.problem({{"standard", "PAL"}}).code(), ExitCode::invalid_config);
  f.state->standard = V4L2_STD_NTSC;
  f.open({{"standard", "PAL"}, {"channel", "0"}});
  EXPECT_EQ(f.state->standard, V4L2_STD_PAL);
}

/// The camera is unplugged at each request of opening in turn. It may return, so this is never permanent.
TEST(V4l2Capture, UnpluggingWhileOpeningIsRetried) {
  const V4l2Capture::Options options = {{"channel", "0"}, {"standard", "PAL"}};
  Fixture whole;
  whole.state->standard = V4L2_STD_PAL;
  whole.open(options);
  int requests = 0;
  for (const auto& [request, count] : whole.state->calls) requests += count;
  ASSERT_GT(requests, 15);
  for (const auto& [request, count] : whole.state->calls) {
    Fixture f;
    f.state->standard = V4L2_STD_PAL;
    f.state->failures[request] = ENODEV;
    try {
      f.open(options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_source) << std::hex << request << ' ' << e.what();
      EXPECT_NE(e.problem().find("there is no camera"), std::string::npos)
          << std::hex << request << ' ' << e.what();
    }
  }
}

TEST(V4l2Capture, CountsDamagedAndMissedPictures) {
  Fixture f;
  auto camera = f.open();
  f.state->push(1);
  f.state->push(1, {}, V4L2_BUF_FLAG_ERROR);
  f.state->push(1, {1, 2, 3});  // incomplete
  f.state->sequence += 5;       // dropped by the driver
  f.state->push(1);
  PictureAllocator allocator(MemoryKind::host);
  int delivered = 0;
  for (int i = 0; i < 4; ++i) {
    const ff::FramePtr frame = ff::make_frame();
    delivered += camera->read(*frame, allocator) == 0;
  }
  EXPECT_EQ(delivered, 2);
  EXPECT_EQ(camera->monitor()->broken, 2u);
  EXPECT_EQ(camera->monitor()->missed, 5u);
}

TEST(V4l2Capture, TheRangeIsTheDriversOrTheUsualOneOfTheFormat) {
  const auto range = [](uint32_t format, uint32_t quantization) {
    Fixture f;
    f.state->formats = {format}, f.state->quantization = quantization;
    auto camera = f.open();
    f.state->push(1);
    PictureAllocator allocator(MemoryKind::host);
    const ff::FramePtr frame = ff::make_frame();
    EXPECT_EQ(camera->read(*frame, allocator), 0);
    return frame->color_range;
  };
  EXPECT_EQ(range(V4L2_PIX_FMT_YUYV, V4L2_QUANTIZATION_DEFAULT), AVCOL_RANGE_MPEG);
  EXPECT_EQ(range(V4L2_PIX_FMT_GREY, V4L2_QUANTIZATION_DEFAULT), AVCOL_RANGE_JPEG);
  EXPECT_EQ(range(V4L2_PIX_FMT_Y16, V4L2_QUANTIZATION_DEFAULT), AVCOL_RANGE_JPEG);
  EXPECT_EQ(range(V4L2_PIX_FMT_RGB565, V4L2_QUANTIZATION_DEFAULT), AVCOL_RANGE_JPEG);
  EXPECT_EQ(range(V4L2_PIX_FMT_YUYV, V4L2_QUANTIZATION_FULL_RANGE), AVCOL_RANGE_JPEG);
  EXPECT_EQ(range(V4L2_PIX_FMT_GREY, V4L2_QUANTIZATION_LIM_RANGE), AVCOL_RANGE_MPEG);
}

TEST(V4l2Capture, TransferAndPrimariesAreTheDrivers) {
  using Light = std::pair<AVColorTransferCharacteristic, AVColorPrimaries>;
  const auto light = [](uint32_t colorspace, uint32_t xfer_func) {
    Fixture f;
    f.state->colorspace = colorspace, f.state->xfer_func = xfer_func;
    auto camera = f.open();
    f.state->push(1);
    PictureAllocator allocator(MemoryKind::host);
    const ff::FramePtr frame = ff::make_frame();
    EXPECT_EQ(camera->read(*frame, allocator), 0);
    return Light(frame->color_trc, frame->color_primaries);
  };
  EXPECT_EQ(light(V4L2_COLORSPACE_BT2020, V4L2_XFER_FUNC_SMPTE2084),
            Light(AVCOL_TRC_SMPTE2084, AVCOL_PRI_BT2020));
  EXPECT_EQ(light(V4L2_COLORSPACE_BT2020, V4L2_XFER_FUNC_DEFAULT),
            Light(AVCOL_TRC_UNSPECIFIED, AVCOL_PRI_BT2020));
  EXPECT_EQ(light(V4L2_COLORSPACE_DCI_P3, V4L2_XFER_FUNC_DCI_P3),
            Light(AVCOL_TRC_UNSPECIFIED, AVCOL_PRI_SMPTE431));
  EXPECT_EQ(light(V4L2_COLORSPACE_SRGB, V4L2_XFER_FUNC_NONE), Light(AVCOL_TRC_LINEAR, AVCOL_PRI_BT709));
  EXPECT_EQ(light(V4L2_COLORSPACE_SMPTE170M, V4L2_XFER_FUNC_709),
            Light(AVCOL_TRC_UNSPECIFIED, AVCOL_PRI_SMPTE170M));
  EXPECT_EQ(light(V4L2_COLORSPACE_DEFAULT, V4L2_XFER_FUNC_DEFAULT),
            Light(AVCOL_TRC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED));
}

TEST(V4l2Capture, ABusyInputIsRetried) {
  Fixture f;
  f.state->failures[VIDIOC_S_INPUT] = EBUSY;
  EXPECT_EQ(f.problem({{"channel", "0"}}).code(), ExitCode::bad_source);
}

}  // namespace
}  // namespace lensd
