// Camera controls: how the kernel's descriptions are converted, names, allowed values.
#include <gtest/gtest.h>

#include <cstring>

#include "core/media/camera/v4l2_controls.hpp"
#include "tests/unit/core/media/camera/fake_camera.hpp"

namespace lensd {
namespace {

v4l2_query_ext_ctrl query_of(uint32_t type, const char* name, int64_t min, int64_t max, int64_t normal,
                             uint32_t flags = 0) {
  v4l2_query_ext_ctrl query = {};
  query.id = V4L2_CID_BRIGHTNESS, query.type = type, query.flags = flags;
  std::strncpy(query.name, name, sizeof query.name - 1);
  query.minimum = min, query.maximum = max, query.step = 1, query.default_value = normal;
  return query;
}

SourceControl described(const v4l2_query_ext_ctrl& query) {
  SourceControl control;
  const auto item = [](uint32_t index) { return index == 2 ? "" : index > 2 ? "High" : "Low"; };
  EXPECT_TRUE(describe_control(query, item, control));
  return control;
}

TEST(V4l2Controls, AllTypesAreDescribed) {
  const SourceControl number = described(query_of(V4L2_CTRL_TYPE_INTEGER, "Gain, Red", -5, 5, 1));
  EXPECT_EQ(number.name, "gain_red");
  EXPECT_EQ(number.initial, ParamValue(int64_t{1}));
  EXPECT_EQ(number.min, -5);
  EXPECT_FALSE(number.wide);

  const SourceControl wide = described(query_of(V4L2_CTRL_TYPE_INTEGER64, "Wide", INT64_MIN, INT64_MAX, 0));
  EXPECT_TRUE(wide.wide);
  EXPECT_EQ(wide.max, INT64_MAX);

  // Item 2 is missing. Items with equal texts get different names.
  const SourceControl menu = described(query_of(V4L2_CTRL_TYPE_MENU, "Menu", 1, 4, 3));
  EXPECT_EQ(menu.choices, (std::vector<std::string>{"Low", "High", "High (4)"}));
  EXPECT_EQ(menu.numbers, (std::vector<int64_t>{1, 3, 4}));
  EXPECT_EQ(menu.initial, ParamValue(std::string("High")));
  EXPECT_EQ(control_value(menu, 1), ParamValue(std::string("Low")));

  // The kernel sign-extends 32-bit masks.
  const SourceControl bits = described(query_of(V4L2_CTRL_TYPE_BITMASK, "Bits", 0, int32_t(0x80002000), 0));
  EXPECT_EQ(bits.kind, ControlKind::bitmask);
  EXPECT_EQ(bits.max, 0x80002000);
  EXPECT_EQ(control_value(bits, int32_t(0x80000000)), ParamValue(int64_t{0x80000000}));

  EXPECT_EQ(described(query_of(V4L2_CTRL_TYPE_BOOLEAN, "On", 0, 1, 1)).initial, ParamValue(true));
  EXPECT_EQ(described(query_of(V4L2_CTRL_TYPE_BUTTON, "Press", 0, 0, 0)).kind, ControlKind::button);
  EXPECT_EQ(described(query_of(V4L2_CTRL_TYPE_STRING, "Words", 0, 8, 0)).kind, ControlKind::text);
  EXPECT_EQ(described(query_of(V4L2_CTRL_TYPE_INTEGER, "…", 0, 1, 0)).name, "control_980900");
}

TEST(V4l2Controls, NamesAreThoseOfV4l2Ctl) {
  EXPECT_EQ(control_name("Exposure Time, Absolute"), "exposure_time_absolute");
  EXPECT_EQ(control_name("  White Balance (Auto) "), "white_balance_auto");
  EXPECT_EQ(control_name("…"), "");
}

TEST(V4l2Controls, AllowedValuesAreText) {
  EXPECT_EQ(allowed_values(described(query_of(V4L2_CTRL_TYPE_INTEGER, "Gain", -5, 5, 1))),
            "a whole number -5 to 5");
  EXPECT_EQ(allowed_values(described(query_of(V4L2_CTRL_TYPE_MENU, "Menu", 1, 4, 3))),
            "one of Low, High, High (4)");
  const SourceControl bits = described(query_of(V4L2_CTRL_TYPE_BITMASK, "Bits", 0, 0x2010, 0));
  EXPECT_EQ(allowed_values(bits), "bits of 0x2010");
  EXPECT_EQ(control_text(bits, ParamValue(int64_t{0x2000})), "0x2000");
}

TEST(V4l2Controls, FlagsAreTakenOver) {
  const auto flagged = [](uint32_t flag) {
    return described(query_of(V4L2_CTRL_TYPE_INTEGER, "Gain", 0, 9, 0, flag));
  };
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_INACTIVE).inactive);
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_READ_ONLY).read_only);
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_GRABBED).locked);
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_WRITE_ONLY).write_only);
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_VOLATILE).self_changing);
  EXPECT_TRUE(flagged(V4L2_CTRL_FLAG_UPDATE).leads);
  SourceControl ignored;
  const MenuItem none = [](uint32_t) { return std::string(); };
  EXPECT_FALSE(describe_control(query_of(V4L2_CTRL_TYPE_MENU, "Empty", 0, 3, 0), none, ignored));
  EXPECT_FALSE(describe_control(query_of(V4L2_CTRL_TYPE_U8, "Matrix", 0, 3, 0), none, ignored));
  EXPECT_FALSE(describe_control(query_of(V4L2_CTRL_TYPE_INTEGER, "Off", 0, 3, 0, V4L2_CTRL_FLAG_DISABLED),
                                none, ignored));
  v4l2_query_ext_ctrl array = query_of(V4L2_CTRL_TYPE_INTEGER, "Array", 0, 3, 0);
  array.nr_of_dims = 1;
  EXPECT_FALSE(describe_control(array, none, ignored));
}

/// A camera with controls of three classes, as uvcvideo numbers them.
struct NumberedCamera : FakeCamera {
  NumberedCamera() {
    controls.clear();
    add(V4L2_CID_USER_CLASS, V4L2_CTRL_TYPE_CTRL_CLASS, "User Controls", 0, 0, 0);
    for (const auto& [id, name] : user) add(id, V4L2_CTRL_TYPE_INTEGER, name, 0, 9, 0);
    add(V4L2_CID_CAMERA_CLASS, V4L2_CTRL_TYPE_CTRL_CLASS, "Camera Controls", 0, 0, 0);
    add(V4L2_CID_FOCUS_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Focus", 0, 9, 0);
    add(V4L2_CID_ZOOM_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER, "Zoom", 0, 9, 0);
    add(0x0A046D01, V4L2_CTRL_TYPE_INTEGER, "LED", 0, 9, 0);
  }
  /// Returns the names of all listed controls.
  std::string names() {
    std::string all;
    for (const SourceControl& control : read_controls(*this)) all += control.name + " ";
    return all;
  }
  const std::vector<std::pair<uint32_t, const char*>> user = {
      {V4L2_CID_BRIGHTNESS, "Brightness"}, {V4L2_CID_GAMMA, "Gamma"}, {V4L2_CID_GAIN, "Gain"}};
};

TEST(V4l2Controls, AControlThatFailsHidesNoOthers) {
  EXPECT_EQ(NumberedCamera().names(), "brightness gamma gain focus zoom led ");
  const std::pair<uint32_t, const char*> cases[] = {
      {V4L2_CID_USER_CLASS, "brightness gamma gain focus zoom led "},
      {V4L2_CID_BRIGHTNESS, "gamma gain focus zoom led "},
      {V4L2_CID_GAMMA, "brightness gain focus zoom led "},
      {V4L2_CID_GAIN, "brightness gamma focus zoom led "},
      {V4L2_CID_CAMERA_CLASS, "brightness gamma gain focus zoom led "},
      {V4L2_CID_FOCUS_ABSOLUTE, "brightness gamma gain zoom led "},
      {V4L2_CID_ZOOM_ABSOLUTE, "brightness gamma gain focus led "},
      {0x0A046D01, "brightness gamma gain focus zoom "},
  };
  for (const auto& [id, names] : cases) {
    NumberedCamera camera;
    camera.failing = id;
    EXPECT_EQ(camera.names(), names) << std::hex << id;
  }
}

TEST(V4l2Controls, AControlThatFailsSometimesIsListed) {
  NumberedCamera camera;
  camera.failing = V4L2_CID_GAMMA, camera.failures = 2;
  EXPECT_EQ(camera.names(), "brightness gamma gain focus zoom led ");
}

TEST(V4l2Controls, RelativeControlsMoveTheCamera) {
  const auto moves = [](uint32_t id, uint32_t flags = 0, uint32_t type = V4L2_CTRL_TYPE_INTEGER) {
    v4l2_query_ext_ctrl query = query_of(type, "Motor", 0, 1, 0, flags);
    query.id = id;
    return described(query).moves;
  };
  for (const uint32_t id :
       {V4L2_CID_PAN_RELATIVE, V4L2_CID_TILT_RELATIVE, V4L2_CID_FOCUS_RELATIVE, V4L2_CID_ZOOM_RELATIVE,
        V4L2_CID_ZOOM_CONTINUOUS, V4L2_CID_IRIS_RELATIVE, V4L2_CID_PAN_SPEED, V4L2_CID_TILT_SPEED})
    EXPECT_TRUE(moves(id)) << std::hex << id;
  for (const uint32_t id : {V4L2_CID_PAN_ABSOLUTE, V4L2_CID_TILT_ABSOLUTE, V4L2_CID_FOCUS_ABSOLUTE,
                            V4L2_CID_ZOOM_ABSOLUTE, V4L2_CID_IRIS_ABSOLUTE, V4L2_CID_GAIN})
    EXPECT_FALSE(moves(id)) << std::hex << id;
  constexpr uint32_t kBoth = V4L2_CTRL_FLAG_WRITE_ONLY | V4L2_CTRL_FLAG_EXECUTE_ON_WRITE;
  EXPECT_TRUE(moves(V4L2_CID_GAIN, kBoth));
  EXPECT_FALSE(moves(V4L2_CID_GAIN, V4L2_CTRL_FLAG_WRITE_ONLY));
  EXPECT_FALSE(moves(V4L2_CID_GAIN, V4L2_CTRL_FLAG_EXECUTE_ON_WRITE));
  EXPECT_FALSE(moves(V4L2_CID_GAIN, kBoth, V4L2_CTRL_TYPE_BOOLEAN));
}

}  // namespace
}  // namespace lensd
