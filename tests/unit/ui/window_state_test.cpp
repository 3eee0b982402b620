// Hidden panels, fullscreen, help in small windows, tooltips, and numbers typed into sliders.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/keys.hpp"

namespace lensd::ui {
namespace {

using WindowState = PanelDriver;

TEST_F(WindowState, TheKeysLeaveThePictureVisibleInSmallWindows) {
  type('?');
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{640, 480}}) {
    ImGui::GetIO().DisplaySize = size;
    frames(4);
    const Rect keys = rect("keys");
    EXPECT_LT(keys.w * keys.h, 0.5f * size.x * size.y);
    EXPECT_LE(keys.y + keys.h, rect("transport/pause").y) << "the transport bar is covered";
    EXPECT_LE(keys.x + keys.w, size.x);
    const std::string last = "keys/" + key_help().back().keys;
    EXPECT_GT(rect(last).y, keys.y + keys.h);
    point(keys.x + keys.w / 2, keys.y + keys.h / 2), frame();
    for (int i = 0; i < 40; ++i) wheel(-2), frames(2);
    EXPECT_LE(rect(last).y + rect(last).h, keys.y + keys.h) << "the wheel does not reach the last key";
  }
}

TEST_F(WindowState, HiddenPanelsLeaveAHintAndATimeLine) {
  frame();
  EXPECT_FALSE(there("panels/hint"));
  press({.key = Key::tab});
  const Rect hint = rect("panels/hint");
  EXPECT_TRUE(hint.x > 0 && hint.x + hint.w < 1280) << hint.x << ", " << hint.w;
  EXPECT_TRUE(hint.y > 0 && hint.y + hint.h < 720) << hint.y << ", " << hint.h;
  EXPECT_FALSE(there("transport/pause"));
  point(640, 700), frames(2);
  EXPECT_TRUE(there("transport/seek"));
  EXPECT_EQ(viewer.picture_rect().h, 720) << "the picture moved";
  click("panels/show"), frame();
  EXPECT_TRUE(there("graph/median/enabled"));
  EXPECT_FALSE(there("panels/hint"));
}

TEST_F(WindowState, TheHiddenBarStaysWhileItsSpeedsAreOpen) {
  press({.key = Key::tab});
  point(640, 700), frames(2);
  click("transport/speed");
  point(640, 560), frames(3);
  EXPECT_TRUE(there("transport/speed")) << "the upper speeds are that far above the bar";
  press({.key = Key::escape}), frames(3);
  EXPECT_FALSE(there("transport/speed"));
}

TEST_F(WindowState, InALowWindowTheLeftSideScrollsToTheGraph) {
  model.playlist = std::make_shared<const std::vector<std::string>>(std::vector<std::string>(9, "/a.mp4"));
  viewer.state().left = Fold::open;
  ImGui::GetIO().DisplaySize = {320, 240};
  point(2, 5), frames(4);
  const float bottom = 240 - 46;  // the bar with the timeline
  EXPECT_GT(rect("graph/add").y + rect("graph/add").h, bottom);
  for (int i = 0; i < 10; ++i) wheel(-1), frames(2);
  const Rect add = rect("graph/add");
  EXPECT_LE(add.y + add.h, bottom);
  EXPECT_GT(add.y, 0);
  frames(30);
  EXPECT_EQ(rect("graph/add").y, add.y) << "the side does not become longer by scrolling";
  for (int i = 0; i < 10; ++i) wheel(1), frames(2);
  EXPECT_GT(rect("source/name").y, 0);
}

TEST_F(WindowState, FullscreenHidesThePanelsUntilItEnds) {
  for (const bool shown : {true, false}) {
    viewer.state().panels = shown;
    viewer.set_fullscreen(true), frame();
    EXPECT_EQ(viewer.picture_rect().w, 1280);
    press({.key = Key::tab});
    EXPECT_LT(viewer.picture_rect().w, 1280) << "Tab shows them in fullscreen, too";
    viewer.set_fullscreen(true), frame();
    EXPECT_LT(viewer.picture_rect().w, 1280);
    viewer.set_fullscreen(false), frame();
    EXPECT_EQ(viewer.state().panels, shown);
  }
}

/// Returns true if a tooltip is drawn.
bool tooltip_shown() {
  const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
  return window && window->Active && !window->Hidden;
}

TEST_F(WindowState, TooltipsEndWithAClickUntilThePointerMoves) {
  frames(3);
  for (const char* widget : {"view/snapshot", "graph/median/enabled", "transport/drops"}) {
    point(640, 300), frames(3);
    point_at(widget);
    frames(40);
    EXPECT_TRUE(tooltip_shown()) << widget;
    for (const int which : {0, 1}) {
      button(true, which), frame();
      button(false, which), frame();
      frames(90);
      EXPECT_FALSE(tooltip_shown()) << widget;
    }
    press({.key = Key::escape});
    point(640, 300), frames(3);
    point_at(widget, 0.8f);
    frames(40);
    EXPECT_TRUE(tooltip_shown()) << widget << " after a return";
  }
}

TEST_F(WindowState, TypedNumbersOutOfRangeAreRefusedWithTheRange) {
  const auto type_into = [&](const char* widget, const char* text) {
    set_ctrl(true);
    EXPECT_TRUE(click(widget).empty()) << "set by the click, or reset by a double click";
    set_ctrl(false);
    frames(3);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput) << widget;
    type(text);
    Commands sent = press({.key = Key::enter});
    frames(3);
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
    return sent;
  };
  EXPECT_TRUE(type_into("graph/edges/low", "2000").empty());
  EXPECT_TRUE(there("graph/edges/low/refused"));
  EXPECT_EQ(viewer.state().text_edit.refusal, "2000 is not allowed: a number 0 to 1000");
  EXPECT_TRUE(type_into("graph/edges/aperture", "4").empty());
  EXPECT_TRUE(there("graph/edges/aperture/refused")) << "an even number";
  EXPECT_FALSE(there("graph/edges/low/refused"));
  EXPECT_TRUE(type_into("graph/edges/low", "x").empty());
  EXPECT_TRUE(there("graph/edges/low/refused"));
  const Commands sent = type_into("graph/edges/low", "70.5");
  ASSERT_TRUE(only<SetParam>(sent));
  EXPECT_EQ(only<SetParam>(sent)->value, ParamValue(70.5));
  EXPECT_FALSE(there("graph/edges/low/refused")) << "the message stays after an accepted value";
}

TEST_F(WindowState, ATypedValueIsKeptWhenTypingGoesOnInAnUpperField) {
  const auto type_into = [&](const char* widget, const char* text) {
    set_ctrl(true);
    Commands sent = click(widget);
    set_ctrl(false);
    frames(3);
    type(text);
    return sent;
  };
  EXPECT_TRUE(type_into("graph/edges/aperture", "5").empty());
  const Commands sent = type_into("graph/edges/low", "77");
  ASSERT_TRUE(only<SetParam>(sent)) << "the number is lost";
  EXPECT_EQ(only<SetParam>(sent)->param, "aperture");
  EXPECT_EQ(only<SetParam>(sent)->value, ParamValue(int64_t{5}));
  EXPECT_EQ(viewer.state().text_edit.text, "77");
  const Commands& entered = press({.key = Key::enter});
  ASSERT_TRUE(only<SetParam>(entered));
  EXPECT_EQ(only<SetParam>(entered)->param, "low");
}

TEST_F(WindowState, EscapeKeepsTheValueWhileTyping) {
  set_ctrl(true);
  EXPECT_TRUE(click("graph/edges/low", 0, 0.95f).empty()) << "the value at the pointer is not set";
  set_ctrl(false);
  frames(3);
  EXPECT_EQ(viewer.state().text_edit.text, "50");
  type("77");
  EXPECT_TRUE(press({.key = Key::escape}).empty());
  frames(3);
  EXPECT_FALSE(ImGui::GetIO().WantTextInput);
  EXPECT_FALSE(there("graph/edges/low/refused"));
  EXPECT_FALSE(viewer.state().editor.history().can_undo());
}

TEST_F(WindowState, ATypedNumberIsOneChange) {
  set_ctrl(true);
  Commands sent = click("graph/edges/low", 0, 0.95f);
  set_ctrl(false);
  const auto add = [&](const Commands& more) { sent.insert(sent.end(), more.begin(), more.end()); };
  for (int i = 0; i < 3; ++i) add(frame());
  type("77");
  add(press({.key = Key::enter}));
  for (int i = 0; i < 3; ++i) add(frame());
  ASSERT_TRUE(only<SetParam>(sent));
  EXPECT_EQ(only<SetParam>(sent)->value, ParamValue(77.0));
  EXPECT_EQ(viewer.state().editor.history().steps(), 1u);
}

}  // namespace
}  // namespace lensd::ui
