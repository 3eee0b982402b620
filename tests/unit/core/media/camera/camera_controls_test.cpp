// Camera controls on a simulated device: writes, their order, refusals, events, reconnections.
#include <gtest/gtest.h>

#include "tests/unit/core/media/camera/camera_fixture.hpp"

namespace lensd {
namespace {

using Text = std::string;

/// All tests run with both kinds of driver: true: uvcvideo.
class CameraControlsTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Drivers, CameraControlsTest, testing::Bool());

TEST_P(CameraControlsTest, OneOfEachTypeIsSet) {
  CameraFixture f(GetParam());
  EXPECT_EQ(f.shared->set({{"gain", Text("20")},
                           {"mirror", true},
                           {"power_line", int64_t{60}},
                           {"focus_now", true},
                           {"zones", Text("0x11")},
                           {"serial_offset", INT64_MIN + 1},
                           {"owner", Text("lens")}}),
            "");
  EXPECT_EQ(f.value("gain"), ParamValue(int64_t{20})) << "a client reads back what it has set";
  EXPECT_TRUE(f.device.written.empty()) << "only the reader thread writes";
  f.service();
  EXPECT_EQ(f.device.at(4).value, 20);
  EXPECT_EQ(f.device.at(5).value, 1);
  EXPECT_EQ(f.device.at(6).value, 2) << "the entry with the text 60";
  EXPECT_EQ(f.device.presses, 1);
  EXPECT_EQ(f.device.at(8).value, 0x11);
  EXPECT_EQ(f.device.at(9).value, INT64_MIN + 1);
  EXPECT_EQ(f.device.at(10).text, "lens");
  EXPECT_EQ(f.value("owner"), ParamValue(Text("lens")));
  EXPECT_EQ(f.notices(), "");
}

TEST_P(CameraControlsTest, RefusesWhatTheDescriptionForbids) {
  CameraFixture f(GetParam());
  const auto set = [&](const char* name, ParamValue value) { return f.shared->set({{name, value}}); };
  EXPECT_EQ(set("gain", int64_t{300}),
            "gain = 300 is not allowed, expected a whole number 0 to 255 in steps of 5");
  EXPECT_NE(set("gain", int64_t{12}), "") << "not on a step";
  EXPECT_NE(set("gain", 1.5), "");
  EXPECT_EQ(set("zones", int64_t{0x20}), "zones = 32 is not allowed, expected bits of 0x1f");
  EXPECT_EQ(set("owner", Text("x")), "owner = 'x' is not allowed, expected text of 2 to 8 bytes");
  EXPECT_NE(set("auto_exposure", int64_t{2}), "") << "the menu has no entry 2";
  EXPECT_NE(set("focus_now", false), "");
  EXPECT_EQ(set("temperature", int64_t{1}), "temperature cannot be set: it is read-only");
  EXPECT_EQ(set("gian", int64_t{1}), "the camera has no control 'gian' (did you mean gain?)");
  EXPECT_NE(f.shared->set({{"mirror", true}, {"gain", int64_t{-1}}}), "");
  f.service();
  EXPECT_TRUE(f.device.written.empty()) << "of several values all are set, or none";
}

TEST_P(CameraControlsTest, ControlsThatLeadAreSetFirst) {
  CameraFixture f(GetParam());
  EXPECT_EQ(f.shared->set({{"exposure", int64_t{7}}, {"auto_exposure", Text("Manual")}}), "");
  f.service();
  EXPECT_EQ(f.device.written, (std::vector<uint32_t>{3, 2}));
  EXPECT_FALSE(f.shared->current(false)->find("exposure")->inactive);
  EXPECT_EQ(f.notices(), "");
}

TEST_P(CameraControlsTest, AnOverriddenValueFollowsWhenItsControlBecomesActive) {
  CameraFixture f(GetParam());
  EXPECT_EQ(f.shared->set({{"exposure", int64_t{7}}}), "");
  f.service();
  EXPECT_EQ(f.notices(), "exposure takes effect when no other control overrides it\n");
  f.device.at(2).value = 500;  // set by automatic exposure
  EXPECT_EQ(f.shared->set({{"auto_exposure", Text("Manual")}}), "");
  f.service();
  f.service();
  EXPECT_EQ(f.device.at(2).value, 7);
  EXPECT_EQ(f.value("exposure"), ParamValue(int64_t{7}));
}

TEST_P(CameraControlsTest, ARefusalByTheDriverGivesOneLine) {
  CameraFixture f(GetParam());
  f.device.busy = 5;
  EXPECT_EQ(f.shared->set({{"mirror", true}}), "");
  f.service();
  f.service();
  EXPECT_EQ(f.notices(), "cannot set mirror to true: the driver refuses it while the camera streams\n");
  EXPECT_EQ(f.value("mirror"), ParamValue(false));
  f.device.busy = 0;
  f.connect();
  EXPECT_EQ(f.device.at(5).value, 0) << "a refused value is not wanted any more";
}

TEST_P(CameraControlsTest, ARefusalRestoresThePreviousValue) {
  CameraFixture f(GetParam(), {{"mirror", true}}, {});
  f.shared->set({{"gain", int64_t{20}}});
  f.service();
  f.device.busy = 4;
  f.shared->set({{"gain", int64_t{30}}});
  f.shared->set({{"gain", int64_t{40}}});  // replaces the queued write
  f.service();
  f.device.busy = 5;
  EXPECT_EQ(f.shared->reset({"mirror"}), "");
  f.service();
  f.device.busy = 0;
  f.device.at(4).value = 10, f.device.at(5).value = 0;
  f.connect();
  EXPECT_EQ(f.device.at(4).value, 20) << "the last value that the driver accepted";
  EXPECT_EQ(f.device.at(5).value, 1) << "the configured value";
}

TEST_P(CameraControlsTest, ValuesSetWhileTheCameraDisappearsAreKept) {
  CameraFixture f(GetParam());
  f.shared->set({{"zones", int64_t{3}}});
  f.service();
  f.device.unplugged = true;
  EXPECT_EQ(f.shared->set({{"gain", int64_t{35}}, {"focus_now", true}}), "");
  EXPECT_EQ(f.shared->reset({"zones"}), "");
  f.service();
  EXPECT_EQ(f.notices(), "") << "the driver refuses nothing";
  f.device.unplugged = false;
  f.connect();
  f.service();
  EXPECT_EQ(f.device.at(4).value, 35);
  EXPECT_EQ(f.device.at(8).value, 1) << "the default";
  EXPECT_EQ(f.device.presses, 1);
  f.connect();
  f.service();
  EXPECT_EQ(f.device.at(4).value, 35);
  EXPECT_EQ(f.device.presses, 1);
}

TEST_P(CameraControlsTest, ChangesOfOtherProgramsAreSeen) {
  CameraFixture f(GetParam());
  EXPECT_EQ(f.device.subscribed.size(), 10u);
  const uint64_t before = f.shared->current(false)->version;
  f.controls->take_event(f.device.change(4, 50));
  f.controls->take_event(f.device.change(9, INT64_MAX));
  f.service();
  EXPECT_EQ(f.value("gain"), ParamValue(int64_t{50}));
  EXPECT_EQ(f.value("serial_offset"), ParamValue(INT64_MAX));
  EXPECT_GT(f.shared->current(false)->version, before);

  f.device.at(4).query.flags = V4L2_CTRL_FLAG_GRABBED, f.device.at(4).query.maximum = 100;
  f.controls->take_event(f.device.change(4, 50, V4L2_EVENT_CTRL_CH_FLAGS | V4L2_EVENT_CTRL_CH_RANGE));
  f.service();
  EXPECT_EQ(f.shared->current(false)->find("gain")->max, 100);
  EXPECT_EQ(f.shared->set({{"gain", int64_t{5}}}), "gain cannot be set while the camera streams");
}

TEST_P(CameraControlsTest, TheEntriesOfAMenuMayChange) {
  CameraFixture f(GetParam());
  const auto entries = [&] { return f.shared->current(false)->find("auto_exposure")->choices; };
  EXPECT_EQ(entries(), (std::vector<std::string>{"Auto", "Manual", "Aperture"}));
  f.device.at(3).query.maximum = 1, f.device.at(3).query.default_value = 1;
  f.controls->take_event(f.device.change(3, 1, V4L2_EVENT_CTRL_CH_VALUE | V4L2_EVENT_CTRL_CH_RANGE));
  f.service();
  EXPECT_EQ(entries(), (std::vector<std::string>{"Auto", "Manual"}));
  EXPECT_EQ(f.value("auto_exposure"), ParamValue(std::string("Manual")));
  EXPECT_EQ(f.shared->current(false)->find("auto_exposure")->initial, ParamValue(std::string("Manual")));
  EXPECT_NE(f.shared->set({{"auto_exposure", std::string("Aperture")}}), "") << "no longer an entry";
}

TEST_P(CameraControlsTest, VolatileValuesAreReadOnlyWhileWatched) {
  CameraFixture f(GetParam());
  f.device.at(11).value = 42;
  f.service();
  EXPECT_EQ(f.value("temperature"), ParamValue(int64_t{0}));
  f.shared->current(true);
  f.service();
  EXPECT_EQ(f.value("temperature"), ParamValue(int64_t{42}));
}

TEST_P(CameraControlsTest, ValuesReturnAfterAReconnection) {
  CameraFixture f(GetParam(), {{"gain", int64_t{15}}},
                  {{"camera A", {{"zones", int64_t{3}}, {"gain", int64_t{20}}}}});
  EXPECT_EQ(f.device.at(4).value, 15) << "the configuration has precedence";
  EXPECT_EQ(f.device.at(8).value, 3);
  f.shared->set({{"exposure", int64_t{9}}, {"auto_exposure", Text("Manual")}, {"focus_now", true}});
  f.service();
  f.replace_device();
  f.connect();
  EXPECT_EQ(f.device.at(2).value, 9);
  EXPECT_EQ(f.device.at(3).value, 1);
  EXPECT_EQ(f.device.at(4).value, 15);
  EXPECT_EQ(f.device.presses, 0) << "a button is not pressed again";
  EXPECT_EQ(f.notices(), "");
  const auto& wanted = f.shared->current(false)->wanted;
  EXPECT_EQ(wanted.size(), 3u) << "configured values are not the user's";
}

TEST_P(CameraControlsTest, RequestsBetweenConnectionsAreAppliedOnce) {
  CameraFixture f(GetParam());
  f.shared->set({{"gain", int64_t{35}}});
  f.service();
  f.controls.reset();
  EXPECT_EQ(f.shared->reset({"gain"}), "");
  EXPECT_EQ(f.shared->set({{"focus_now", true}, {"zones", int64_t{3}}}), "");
  f.connect();
  f.service();
  EXPECT_EQ(f.device.at(4).value, 10) << "the default";
  EXPECT_EQ(f.device.at(8).value, 3);
  EXPECT_EQ(f.device.presses, 1);
  f.connect();
  f.service();
  EXPECT_EQ(f.device.presses, 1);
}

TEST_P(CameraControlsTest, AButtonBeforeTheFirstConnectionIsPressedOnce) {
  FakeCamera device;
  const auto shared = std::make_shared<SharedControls>(ControlValues{}, KeptControls{});
  EXPECT_EQ(shared->set({{"focus_now", true}}), "");
  CameraControls(device, shared, CameraIdentity{"camera A"}, ModeControls({}, {})).service(now_ns());
  CameraControls(device, shared, CameraIdentity{"camera A"}, ModeControls({}, {})).service(now_ns());
  EXPECT_EQ(device.presses, 1);
}

TEST_P(CameraControlsTest, EachCameraKeepsItsOwnValues) {
  CameraFixture f(GetParam());
  f.shared->set({{"gain", int64_t{35}}});
  f.service();
  f.device.at(4).value = 10;
  f.connect({"camera B"});
  EXPECT_EQ(f.device.at(4).value, 10);
  f.connect({"camera A"});
  EXPECT_EQ(f.device.at(4).value, 35);
}

TEST_P(CameraControlsTest, InvalidConfiguredValuesAreReportedOnce) {
  CameraFixture f(GetParam(), {{"gain", int64_t{999}}, {"brightnes", int64_t{1}}});
  EXPECT_EQ(f.notices(),
            "gain = 999 is not allowed, expected a whole number 0 to 255 in steps of 5\n"
            "the camera has no control 'brightnes'\n");
  f.connect();
  EXPECT_EQ(f.notices(), "");
}

TEST_P(CameraControlsTest, ResetRestoresTheDriversDefaults) {
  CameraFixture f(GetParam());
  f.shared->set({{"gain", int64_t{35}}, {"mirror", true}, {"auto_exposure", Text("Manual")}});
  f.service();
  EXPECT_EQ(f.shared->reset({"gain"}), "");
  f.service();
  EXPECT_EQ(f.device.at(4).value, 10);
  EXPECT_EQ(f.device.at(5).value, 1);
  EXPECT_NE(f.shared->reset({"focus_now"}), "");
  EXPECT_EQ(f.shared->reset({}), "");
  f.service();
  EXPECT_EQ(f.device.at(5).value, 0);
  EXPECT_EQ(f.device.at(3).value, 3);
  EXPECT_TRUE(f.shared->current(false)->wanted.empty());
}

TEST_P(CameraControlsTest, ManyChangesOfOneControlAreOneWrite) {
  CameraFixture f(GetParam());
  for (int64_t i = 0; i < 1000; ++i) f.shared->set({{"gain", i % 51 * 5}});
  f.service();
  EXPECT_EQ(f.device.written, std::vector<uint32_t>{4});
  EXPECT_EQ(f.device.at(4).value, 999 % 51 * 5);
}

}  // namespace
}  // namespace lensd
