// Format, size and rate of a camera as controls: their values, conflicts, restarts and return to the previous
// mode.
#include <gtest/gtest.h>

#include <cerrno>

#include "core/base/clock.hpp"
#include "core/media/camera/camera_controls.hpp"
#include "tests/unit/core/media/camera/fake_camera.hpp"

namespace lensd {
namespace {

using Choices = std::vector<std::string>;

/// A camera with the larger size only as JPEG, and the highest rate only in the smaller size.
std::vector<CameraFormat> two_formats() {
  return {{1, "YUYV", "YUYV 4:2:2", "yuyv422", {{{640, 480}, {30, 15}}}},
          {2, "MJPG", "Motion-JPEG", "mjpeg", {{{1920, 1080}, {30}}, {{640, 480}, {60, 30}}}},
          {3, "HSV3", "HSV", "", {{{3840, 2160}, {90}}}}};
}

Choices choices_of(const ModeControls& mode, const std::string& name) {
  for (const SourceControl& control : mode.list())
    if (control.name == name) return control.choices;
  return {};
}

std::string value_of(const ModeControls& mode, const std::string& name) {
  for (const SourceControl& control : mode.list())
    if (control.name == name) return to_string(control.value);
  return {};
}

TEST(ModeControls, ListsWhatLensdReads) {
  const ModeControls mode(two_formats(), {});
  EXPECT_EQ(choices_of(mode, "format"), (Choices{"auto", "YUYV", "MJPG"}));
  EXPECT_EQ(choices_of(mode, "size"), (Choices{"auto", "1920x1080", "640x480"}));
  EXPECT_EQ(choices_of(mode, "rate"), (Choices{"auto", "60", "30", "15"}));
  for (const SourceControl& control : mode.list()) EXPECT_EQ(to_string(control.value), "auto");
  EXPECT_TRUE(ModeControls::has("size"));
  EXPECT_FALSE(ModeControls::has("brightness"));
  EXPECT_TRUE(ModeControls({}, {}).list().empty()) << "nothing to choose";
}

TEST(ModeControls, TheConfigurationIsTheDefault) {
  const ModeControls mode(two_formats(), {"mjpeg", {320, 240}, 29.97});
  EXPECT_EQ(value_of(mode, "format"), "MJPG");
  EXPECT_EQ(choices_of(mode, "size").back(), "320x240") << "the driver uses its nearest size";
  EXPECT_EQ(mode.request().format, "MJPG");
  EXPECT_EQ(mode.request().size, (Extent{320, 240}));
  EXPECT_EQ(mode.request().rate, 29.97) << "not rounded";
  EXPECT_TRUE(mode.chosen().empty());
}

TEST(ModeControls, TheNewestValueReplacesThoseThatDoNotFit) {
  ModeControls mode(two_formats(), {});
  EXPECT_EQ(mode.set("format", std::string("YUYV")), Choices{});
  EXPECT_EQ(mode.set("rate", std::string("15")), Choices{});
  EXPECT_EQ(mode.set("size", std::string("1920x1080")), (Choices{"rate", "format"}));
  EXPECT_EQ(mode.request().size, (Extent{1920, 1080}));
  EXPECT_EQ(mode.request().format, "");
  EXPECT_EQ(mode.request().rate, 0);
  EXPECT_EQ(mode.set("rate", std::string("60")), Choices{"size"}) << "no 60 frames per second in this size";
  EXPECT_EQ(mode.set("size", std::string("640x480")), Choices{});
  EXPECT_EQ(mode.chosen(), (ControlValues{{"size", std::string("640x480")}, {"rate", std::string("60")}}));
}

TEST(ModeControls, FormatsHaveTheirNamesInFFmpegToo) {
  ModeControls mode(two_formats(), {});
  const SourceControl& format = mode.list().front();
  for (const char* name : {"MJPG", "mjpeg"})
    EXPECT_EQ(to_string(check_control(format, std::string(name)).value), "MJPG") << name;
  EXPECT_EQ(check_control(format, std::string("h264")).problem,
            "format = 'h264' is not allowed, expected one of auto, YUYV (yuyv422), MJPG (mjpeg)");
  mode.adopt({{"format", std::string("yuyv422")}});
  EXPECT_EQ(value_of(mode, "format"), "YUYV");
  EXPECT_EQ(choices_of(ModeControls(two_formats(), {"mjpeg"}), "format"), (Choices{"auto", "YUYV", "MJPG"}));
}

TEST(ModeControls, KeptValuesThatTheCameraHasNotAreIgnored) {
  ModeControls mode(two_formats(), {});
  mode.adopt({{"size", std::string("800x600")}, {"format", std::string("MJPG")}, {"gain", int64_t{3}}});
  EXPECT_EQ(value_of(mode, "size"), "auto");
  EXPECT_EQ(value_of(mode, "format"), "MJPG");
}

/// A connected camera with two formats.
struct ModeFixture {
  explicit ModeFixture(KeptControls kept = {})
      : shared(std::make_shared<SharedControls>(ControlValues{}, std::move(kept))) {
    connect();
  }
  RequestedMode connect() {
    ModeControls mode(two_formats(), {});
    mode.adopt(shared->wanted({"camera A"}));
    const RequestedMode request = mode.request();
    controls.emplace(device, shared, CameraIdentity{"camera A"}, std::move(mode));
    return request;
  }
  std::string value(const char* name) { return to_string(shared->current(false)->find(name)->value); }

  FakeCamera device;
  std::shared_ptr<SharedControls> shared;
  std::optional<CameraControls> controls;
};

TEST(ModeChange, RestartsTheCameraInTheWantedMode) {
  ModeFixture f;
  EXPECT_EQ(f.shared->set({{"size", std::string("640x480")}, {"rate", int64_t{60}}, {"gain", int64_t{20}}}),
            "");
  EXPECT_FALSE(f.controls->mode_changed()) << "only the reader thread restarts the camera";
  f.controls->service(now_ns());
  EXPECT_TRUE(f.controls->mode_changed());
  EXPECT_EQ(f.device.at(4).value, 20) << "the driver's control is set too";
  EXPECT_TRUE(f.shared->take_restart());
  EXPECT_FALSE(f.shared->take_restart());
  const RequestedMode request = f.connect();
  EXPECT_EQ(request.size, (Extent{640, 480}));
  EXPECT_EQ(request.rate, 60);
  f.shared->mode_works();
  f.shared->suspect_mode(true);
  EXPECT_FALSE(f.shared->revert_mode("no longer")) << "a later failure has another cause";
  EXPECT_EQ(f.value("size"), "640x480");
}

TEST(ModeChange, TheSameValueRestartsNothing) {
  ModeFixture f;
  EXPECT_EQ(f.shared->set({{"size", std::string("auto")}}), "");
  f.controls->service(now_ns());
  EXPECT_FALSE(f.controls->mode_changed());
  EXPECT_NE(f.shared->set({{"size", std::string("1x1")}}), "");
}

TEST(ModeChange, AModeThatDoesNotPlayIsReverted) {
  ModeFixture f({{"camera A", {{"size", std::string("640x480")}}}});
  EXPECT_EQ(f.value("size"), "640x480") << "kept from an earlier run";
  f.shared->mode_works();
  EXPECT_EQ(f.shared->set({{"size", std::string("1920x1080")}}), "");
  f.controls->service(now_ns());
  EXPECT_TRUE(f.shared->take_restart());
  EXPECT_EQ(f.connect().size, (Extent{1920, 1080}));
  EXPECT_FALSE(f.shared->revert_mode("unplugged")) << "not the mode's fault";
  f.shared->mode_failed(ENOSPC);
  EXPECT_TRUE(f.shared->revert_mode("no space on the bus"));
  EXPECT_EQ(f.connect().size, (Extent{640, 480}));
  const auto notices = f.shared->take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].text.find("no space on the bus"), std::string::npos);
  EXPECT_TRUE(notices[0].problem);
}

TEST(ModeChange, ErrorsThatUnpluggingMayCauseCountFromTheThirdOn) {
  ModeFixture f;
  EXPECT_EQ(f.shared->set({{"size", std::string("1920x1080")}}), "");
  f.controls->service(now_ns());
  f.connect();
  for (const int error : {ENODEV, EBUSY, EIO, EPROTO}) {
    f.shared->mode_failed(error);
    EXPECT_FALSE(f.shared->revert_mode("error")) << error;
  }
  f.shared->mode_failed(EIO);
  EXPECT_TRUE(f.shared->revert_mode("error"));
}

TEST(ModeChange, ValuesThatAreSetTogetherReplaceTheOldOnes) {
  using Words = ControlValues;
  for (const Words& wanted : {Words{{"rate", std::string("60")}, {"size", std::string("640x480")}},
                              Words{{"size", std::string("640x480")}, {"rate", std::string("60")}}}) {
    ModeFixture f;
    EXPECT_EQ(f.shared->set({{"size", std::string("1920x1080")}, {"rate", std::string("30")}}), "");
    f.controls->service(now_ns());
    f.connect();
    EXPECT_EQ(f.shared->set(wanted), "");
    f.controls->service(now_ns());
    const RequestedMode request = f.connect();
    EXPECT_EQ(request.size, (Extent{640, 480}));
    EXPECT_EQ(request.rate, 60);
    EXPECT_EQ(f.shared->current(false)->wanted.size(), 2u) << "both are kept for the next run";
    EXPECT_TRUE(f.shared->take_notices().empty());
  }
}

TEST(ModeChange, ControlsOfOthersThatWereReleasedAreForgotten) {
  ModeFixture f;
  EXPECT_EQ(f.shared->set({{"format", std::string("YUYV")}}), "");
  f.controls->service(now_ns());
  f.connect();
  EXPECT_EQ(f.shared->set({{"size", std::string("1920x1080")}}), "");
  f.controls->service(now_ns());
  EXPECT_EQ(f.connect().format, "");
  EXPECT_EQ(f.value("format"), "auto");
  EXPECT_EQ(f.shared->take_notices().size(), 1u);
}

}  // namespace
}  // namespace lensd
