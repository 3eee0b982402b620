// The camera's controls in the left panel, with simulated input and without a display.
#include <gtest/gtest.h>

#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

class CameraPanel : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    model.controls = std::make_shared<const SourceControls>(test::sample_controls());
    viewer.state().camera.open = true;
    frames(3);
  }
  void follow(const Commands& commands) override {
    for (const Command& command : commands) {
      if (const auto* set = std::get_if<SetSourceControls>(&command))
        sent.insert(sent.end(), set->values.begin(), set->values.end());
      test::set_controls(model, command);
    }
  }
  ParamValue value(const char* name) { return model.controls->find(name)->value; }

  ControlValues sent;
};

TEST_F(CameraPanel, IsThereOnlyForACameraAndFolds) {
  EXPECT_TRUE(there("camera/brightness"));
  click("camera/fold");
  frames(2);
  EXPECT_FALSE(there("camera/brightness"));
  EXPECT_TRUE(there("camera/fold"));
  model.controls = nullptr;
  frames(2);
  EXPECT_FALSE(there("camera/fold"));
}

TEST_F(CameraPanel, NamesAreBesideTheirValues) {
  const auto group = drawn("User Controls"), name = drawn("Brightness");
  ASSERT_TRUE(group && name);
  EXPECT_EQ(group->colour, colour::faint);
  EXPECT_EQ(name->colour, colour::dim);
  EXPECT_EQ(ink_of("Gain"), colour::text) << "not the default";
  const Rect value = rect("camera/brightness");
  EXPECT_NEAR((value.x - name->x) / (value.x + value.w - name->x), 0.46, 0.05);
  auto controls = std::make_shared<SourceControls>(*model.controls);
  for (SourceControl& control : controls->list) control.inactive = control.name == "serial";
  model.controls = controls;
  frames(2);
  EXPECT_EQ(ink_of("Serial"), colour::faint);
  EXPECT_EQ(ink_of("Brightness"), colour::dim);
}

TEST_F(CameraPanel, ControlsScrollInALowWindow) {
  const auto height = [&](float window) {
    ImGui::GetIO().DisplaySize = {1280, window};
    frames(4);
    return rect("presets/menu").y - rect("camera/fold").y;
  };
  EXPECT_LT(height(400), height(1400) - 60);
}

TEST_F(CameraPanel, ARefusedNumberSaysWhy) {
  const auto type_brightness = [&](const char* text) {
    set_ctrl(true), click("camera/brightness"), set_ctrl(false);
    frames(3);
    type(text);
    press({.key = Key::enter});
    frames(3);
  };
  type_brightness("99999");
  EXPECT_TRUE(there("camera/brightness/refused"));
  type_brightness("7");
  EXPECT_FALSE(there("camera/brightness/refused"));
  EXPECT_EQ(value("brightness"), ParamValue(int64_t{7}));
}

TEST_F(CameraPanel, ControlsSendTheirValues) {
  click("camera/white_balance_automatic", 0, 0.05f);
  frame();
  EXPECT_EQ(value("white_balance_automatic"), ParamValue(false));
  click("camera/brightness", 0, 0.75f);
  frame();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().first, "brightness");
  EXPECT_NEAR(static_cast<double>(std::get<int64_t>(sent.back().second)), 32, 4);
  click("camera/power_line_frequency");
  frames(2);
  click("camera/power_line_frequency/60 Hz");
  frame();
  EXPECT_EQ(value("power_line_frequency"), ParamValue(std::string("60 Hz")));
}

TEST_F(CameraPanel, ResetRestoresTheDefault) {
  EXPECT_FALSE(there("camera/brightness/reset"));
  click("camera/gain/reset");
  frames(2);
  EXPECT_EQ(value("gain"), ParamValue(int64_t{20}));
  EXPECT_FALSE(there("camera/gain/reset"));
  click("camera/white_balance_automatic", 0, 0.05f);
  frames(2);
  click("camera/reset_all");
  frames(2);
  EXPECT_EQ(value("white_balance_automatic"), ParamValue(true));
}

TEST_F(CameraPanel, InactiveControlsDoNotReact) {
  click("camera/white_balance_temperature", 0, 0.2f);
  frames(2);
  EXPECT_TRUE(sent.empty());
  auto active = std::make_shared<SourceControls>(*model.controls);
  for (SourceControl& control : active->list)
    if (control.name == "white_balance_temperature") control.inactive = false;
  model.controls = active;
  frames(2);
  click("camera/white_balance_temperature", 0, 0.9f);
  frames(2);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(std::get<int64_t>(sent.back().second) % 10, 0) << "on the control's step";
}

}  // namespace
}  // namespace lensd::ui
