// Controls that an automatic mode overrides, with drivers that mark the mode and with uvcvideo, which does
// not.
#include <gtest/gtest.h>

#include "tests/unit/core/media/camera/camera_fixture.hpp"

namespace lensd {
namespace {

using Text = std::string;

class OverriddenControls : public testing::TestWithParam<bool> {
 protected:
  /// Sets the manual mode and an exposure, like an earlier request of the user.
  void set_manual() {
    EXPECT_EQ(f.shared->set({{"exposure", int64_t{157}}, {"auto_exposure", Text("Manual")}}), "");
    f.service();
    EXPECT_EQ(f.device.at(2).value, 157);
    EXPECT_EQ(f.notices(), "");
  }
  const ControlValues& wanted() { return f.shared->current(false)->wanted; }

  CameraFixture f{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Drivers, OverriddenControls, testing::Bool());

TEST_P(OverriddenControls, ModeAndValueTogetherAreWrittenOnce) {
  set_manual();
  EXPECT_EQ(f.device.written, (std::vector<uint32_t>{3, 2}));
  f.service();
  EXPECT_EQ(f.device.written.size(), 2u);
  EXPECT_FALSE(f.shared->current(false)->find("exposure")->inactive) << "known before the event arrives";
}

TEST_P(OverriddenControls, ResetOfAllReportsNothingAndForgetsAll) {
  set_manual();
  EXPECT_EQ(f.shared->reset({}), "");
  f.service();
  EXPECT_EQ(f.notices(), "");
  EXPECT_EQ(f.device.at(3).value, 3);
  EXPECT_TRUE(wanted().empty());
  f.replace_device();
  f.connect();
  EXPECT_EQ(f.device.at(3).value, 3);
  EXPECT_EQ(f.device.at(2).value, 100) << "the value of the user does not return";
}

TEST_P(OverriddenControls, ResetInTheAutomaticModeReportsNothing) {
  EXPECT_EQ(f.shared->reset({}), "");
  f.service();
  EXPECT_EQ(f.notices(), "");
  EXPECT_TRUE(wanted().empty());
  f.device.at(2).value = 500;  // set by automatic exposure
  EXPECT_EQ(f.shared->set({{"auto_exposure", Text("Manual")}}), "");
  f.service();
  f.service();
  EXPECT_EQ(f.device.at(2).value, 500) << "the default does not follow later";
}

TEST_P(OverriddenControls, TheAutomaticModeKeepsAValueForTheManualOne) {
  set_manual();
  EXPECT_EQ(f.shared->set({{"exposure", int64_t{20}}, {"auto_exposure", Text("Aperture")}}), "");
  f.service();
  EXPECT_EQ(f.notices(), "") << "the request itself sets the mode that overrides the value";
  EXPECT_EQ(wanted().size(), 2u);
  EXPECT_EQ(f.shared->set({{"auto_exposure", Text("Manual")}}), "");
  f.service();
  EXPECT_EQ(f.device.at(2).value, 20);
}

TEST_P(OverriddenControls, AnOverriddenValueIsReportedOnce) {
  EXPECT_EQ(f.shared->set({{"exposure", int64_t{7}}, {"gain", int64_t{20}}}), "");
  f.service();
  EXPECT_EQ(f.notices(), "exposure takes effect when no other control overrides it\n");
  f.replace_device();
  f.connect();
  EXPECT_EQ(f.notices(), "") << "restored values are not new requests";
  EXPECT_EQ(f.device.at(4).value, 20);
}

TEST_P(OverriddenControls, AModeOfAnotherProgramIsKnownBeforeTheWrite) {
  f.device.at(2).query.flags = 0;  // the event is still in the driver's queue
  EXPECT_EQ(f.shared->set({{"exposure", int64_t{7}}}), "");
  f.service();
  EXPECT_EQ(f.device.at(2).value, 7);
  EXPECT_EQ(f.notices(), "");
}

}  // namespace
}  // namespace lensd
