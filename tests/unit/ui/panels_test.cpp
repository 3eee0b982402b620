// Placement, keys and panels. Needs no display: ImGui runs without a backend.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/keys.hpp"

namespace lensd::ui {
namespace {

using Panels = PanelDriver;

TEST_F(Panels, TextsOfAnyLengthAreDrawn) {
  std::string words, letters(200'000, 'W');
  while (words.size() < 200'000) words += "there is no filter ";
  model.notices = {{now_ns(), true, words}, {now_ns(), true, letters}};
  model.log = {"12:30:01 warning: " + words, "12:30:02 warning: " + letters};
  model.source_detail = model.source_name = letters;
  model.live = model.live_status.live = true;
  model.live_status.state = LiveState::reconnecting, model.live_status.reason = words;
  viewer.state().log.open = true;
  frames(3);
  EXPECT_TRUE(there("log/lines"));
}

TEST_F(Panels, ClickOnCheckboxSwitchesTheNode) {
  const auto& commands = click("graph/median/enabled");
  const auto* set = only<SetEnabled>(commands);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->node, "median");
  EXPECT_FALSE(set->enabled);
}

TEST_F(Panels, ClickOnSliderSetsTheParameterInRange) {
  const auto& commands = click("graph/edges/low", 0, 0.75f);
  ASSERT_FALSE(commands.empty());
  const auto* set = std::get_if<SetParam>(&commands.front());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->node, "edges");
  EXPECT_EQ(set->param, "low");
  EXPECT_NEAR(std::get<double>(set->value), 750, 30);
}

TEST_F(Panels, OddSliderGivesOddNumbers) {
  for (const float at : {0.1f, 0.4f, 0.6f, 0.95f})
    for (const Command& command : click("graph/edges/aperture", 0, at))
      if (const auto* set = std::get_if<SetParam>(&command)) {
        EXPECT_EQ(std::get<int64_t>(set->value) % 2, 1);
      }
}

TEST_F(Panels, RightClickRestoresTheDefault) {
  test::set_value(model, "edges", "low", 400.0);
  const auto& commands = click("graph/edges/low", 1);
  const auto* set = only<SetParam>(commands);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->value, ParamValue(50.0));
}

TEST_F(Panels, ParametersOfADisabledNodeAreInert) {
  EXPECT_TRUE(click("graph/convolve/gain", 0, 0.8f).empty());
}

TEST_F(Panels, PauseButtonAndSeekBar) {
  const auto& pause = click("transport/pause");
  ASSERT_TRUE(only<Pause>(pause));
  EXPECT_TRUE(only<Pause>(pause)->paused);
  const auto& seek = click("transport/seek", 0, 0.5f);
  ASSERT_TRUE(only<Seek>(seek)) << seek.size();
  EXPECT_NEAR(to_s(only<Seek>(seek)->position_ns), to_s(model.duration_ns) / 2, 0.5);
  EXPECT_FALSE(only<Seek>(seek)->relative);
}

TEST_F(Panels, PlayAtTheEndOfAFileRestarts) {
  model.ended = true;
  const auto& play = click("transport/pause");
  ASSERT_TRUE(only<Pause>(play));
  EXPECT_FALSE(only<Pause>(play)->paused);
  EXPECT_FALSE(only<Pause>(type(' '))->paused);
  model.seekable = false;
  EXPECT_TRUE(type(' ').empty()) << "a source that cannot seek cannot be replayed";
  model.seekable = true, model.image = true;
  EXPECT_TRUE(model.stands_still()) << "the button of a still picture is that of a pause";
}

TEST_F(Panels, KeysBecomeCommands) {
  EXPECT_TRUE(only<Pause>(type(' ')));
  EXPECT_EQ(only<Step>(type('.'))->frames, 1);
  EXPECT_EQ(only<Step>(type(','))->frames, -1);
  EXPECT_EQ(only<Seek>(press({.key = Key::left}))->position_ns, -5'000'000'000);
  EXPECT_EQ(only<Seek>(press({.key = Key::up}))->position_ns, 60'000'000'000);
  EXPECT_DOUBLE_EQ(only<SetSpeed>(type(']'))->speed, 1.1);
  EXPECT_DOUBLE_EQ(only<SetSpeed>(press({.key = Key::backspace}))->speed, 1);
  EXPECT_TRUE(only<SetFileLoop>(type('L'))->on);
  EXPECT_EQ(only<SetLoop>(type('l'))->a_ns, model.position_ns);
  EXPECT_TRUE(type('q').empty());
  EXPECT_TRUE(viewer.requests().quit);
}

TEST_F(Panels, DigitsCountTheUsersNodesOnly) {
  frame();
  const auto& commands = type('2');  // the second node is the conversion that the plan added
  ASSERT_TRUE(only<SetEnabled>(commands));
  EXPECT_EQ(only<SetEnabled>(commands)->node, "edges");
  EXPECT_TRUE(type('9').empty());
}

TEST(Keys, NamesComeFromTheTable) {
  EXPECT_EQ(key_text(Action::save_preset_as), "Ctrl+Shift+s");
  EXPECT_EQ(key_hint(Action::step_back), "key ,");
  EXPECT_EQ(key_hint({Action::slower, Action::faster, Action::normal_speed}), "[ or ] or Backspace");
  EXPECT_EQ(node_key_hint(3), "key 3");
  EXPECT_EQ(node_key_hint(10), "");
  EXPECT_EQ(key_help().front().keys, "Ctrl+o");
  EXPECT_STREQ(key_help().front().group, "Playing");
}

TEST_F(Panels, ShiftWithoutAnActionOfItsOwnIsIgnored) {
  EXPECT_TRUE(press({.character = 'o', .ctrl = true, .shift = true}).empty());
  EXPECT_TRUE(viewer.state().source.open);
}

TEST_F(Panels, HeldKeysActOnceButSteppingRepeats) {
  EXPECT_TRUE(press({.character = ' ', .repeat = true}).empty());
  EXPECT_TRUE(only<Step>(press({.character = '.', .repeat = true})));
}

TEST_F(Panels, WhileTheGraphIsBypassedTheSourceHasTheWholePicture) {
  InputState held;
  held.held_letters = 1u << ('b' - 'a');
  model.has_second = true;
  for (const CompareMode mode : {CompareMode::off, CompareMode::split, CompareMode::side}) {
    viewer.state().compare.mode = mode;
    frame(), frame(held);
    EXPECT_EQ(viewer.first_picture(), "source");
    EXPECT_EQ(viewer.second_picture(), std::nullopt);
    EXPECT_EQ(viewer.compare_look().mode, CompareMode::off);
    EXPECT_EQ(viewer.own_rect().w, viewer.picture_rect().w);
    EXPECT_FALSE(there("compare/label"));
  }
  frame();
  EXPECT_TRUE(there("compare/label"));
}

TEST_F(Panels, TabGivesThePictureTheWholeWindow) {
  frame();
  const Rect beside = viewer.picture_rect();
  EXPECT_LT(beside.w, 1280);
  press({.key = Key::tab});
  EXPECT_EQ(viewer.picture_rect().w, 1280);
  EXPECT_EQ(viewer.picture_rect().h, 720);
  press({.key = Key::tab});
  EXPECT_EQ(viewer.picture_rect().w, beside.w);
}

TEST_F(Panels, SidesFoldAndUnfold) {
  frame();
  const float before = viewer.picture_rect().w;
  click("panels/fold_left"), click("panels/fold_right");
  EXPECT_GT(viewer.picture_rect().w, before + 400);
  click("panels/unfold_left"), click("panels/unfold_right");
  EXPECT_EQ(viewer.picture_rect().w, before);
  const float height = viewer.picture_rect().h;
  click("panels/fold_bottom");
  EXPECT_GT(viewer.picture_rect().h, height);
  click("panels/unfold_bottom");
  EXPECT_EQ(viewer.picture_rect().h, height);
}

TEST_F(Panels, ASideThatIsOpenedInANarrowWindowFoldsTheOtherAway) {
  ImGui::GetIO().DisplaySize = {700, 1000};
  frames(2);
  ASSERT_TRUE(there("panels/unfold_right"));
  click("panels/unfold_right"), frame();
  EXPECT_TRUE(there("panels/unfold_left"));
  EXPECT_GT(viewer.picture_rect().w, 300);
  click("panels/unfold_left"), frame();
  EXPECT_TRUE(there("panels/unfold_right"));
  type('h'), frames(2);
  EXPECT_TRUE(there("scopes/plot"));
  EXPECT_TRUE(there("panels/unfold_left"));
  type('+'), frames(2);
  EXPECT_TRUE(there("add/search"));
  press({.key = Key::escape}), frame();
  type('h'), frames(2);
  press({.character = 's', .ctrl = true, .shift = true}), frames(2);
  EXPECT_TRUE(there("presets/name"));
  ImGui::GetIO().DisplaySize = {1280, 1000};
  frames(2);
  EXPECT_FALSE(there("panels/unfold_left") || there("panels/unfold_right")) << "both were requested";
}

TEST_F(Panels, WheelZoomsAndDragMovesThePictureOnly) {
  frame();
  const Rect area = viewer.picture_rect();
  point(area.x + area.w / 2, area.y + area.h / 2);
  frame();
  wheel(2);
  frames(2);
  const double zoom = viewer.view().zoom;
  EXPECT_NEAR(zoom, 1.15 * 1.15, 0.02);
  button(true);
  frame();
  point(area.x + area.w / 2 + 60, area.y + area.h / 2);
  frames(2);
  button(false);
  frame();
  EXPECT_LT(viewer.view().centre_x, 0.5);
  type('0');
  EXPECT_TRUE(viewer.view().fits());
  point(20, 300);  // over the graph panel
  frames(2);
  wheel(2);
  frames(2);
  EXPECT_TRUE(viewer.view().fits());
}

TEST_F(Panels, HelpClosesWithEscapeBeforeFullscreenDoes) {
  type('?');
  EXPECT_TRUE(viewer.state().help);
  press({.key = Key::escape});
  EXPECT_FALSE(viewer.state().help);
  EXPECT_FALSE(viewer.requests().leave_fullscreen);
  press({.key = Key::escape});
  EXPECT_TRUE(viewer.requests().leave_fullscreen);
}

TEST_F(Panels, DrawInEveryStateAndSize) {
  viewer.state().help = viewer.state().stats = true;
  model.notices = {{now_ns(), true, "edges.low = 2000 is not allowed"}, {now_ns(), false, "saved"}};
  for (const ImVec2 size : {ImVec2{1920, 1080}, ImVec2{640, 480}, ImVec2{200, 120}, ImVec2{1, 1}}) {
    ImGui::GetIO().DisplaySize = size;
    EXPECT_TRUE(frame().empty());
    for (const Fold fold : {Fold::open, Fold::folded}) {
      viewer.state().left = viewer.state().right = viewer.state().bottom = fold;
      EXPECT_TRUE(frame().empty());
      EXPECT_GE(viewer.picture_rect().w, 1);
    }
  }
  model = ViewerModel();
  model.live = true;
  EXPECT_TRUE(frame().empty());
}

TEST_F(Panels, AreDrawnInAMillisecond) {
  frames(30);
  int64_t best = INT64_MAX;
  for (int i = 0; i < 30; ++i) {
    const int64_t start = now_ns();
    frame();
    best = std::min(best, now_ns() - start);
  }
#ifdef __OPTIMIZE__
  EXPECT_LT(to_ms(best), 1.0);
#else
  EXPECT_LT(to_ms(best), 20.0);
#endif
}

TEST_F(Panels, DigitsHaveOneWidth) {
  for (ImFont* font : {look.text, look.strong, look.small})
    for (ImWchar c = '1'; c <= '9'; ++c) EXPECT_EQ(font->GetCharAdvance(c), font->GetCharAdvance('0')) << c;
}

TEST(Placement, FitsAndCentres) {
  const Placement p = place({640, 480}, {100, 0, 1280, 480}, {});
  EXPECT_DOUBLE_EQ(p.scale, 1);
  EXPECT_EQ(p.picture.x, 420);
  EXPECT_EQ(p.picture.y, 0);
  EXPECT_EQ(p.picture.w, 640);
  EXPECT_EQ(place({1, 16384}, {0, 0, 100, 100}, {}).picture.w, 1);
}

TEST(Placement, PixelsMayBeWide) {
  const PictureView view{.pixel_aspect = 64.0 / 45};
  const Rect area{0, 0, 1024, 800};
  const Placement fitted = place({720, 576}, area, view);
  EXPECT_EQ(fitted.picture.w, 1024);
  EXPECT_EQ(fitted.picture.h, 576);
  EXPECT_DOUBLE_EQ(place({720, 576}, area, actual_size({720, 576}, area, view)).scale, 1);
  const PictureView zoomed = zoomed_at({720, 576}, area, view, 100, 200, 2);
  const Rect after = place({720, 576}, area, zoomed).picture;
  EXPECT_NEAR(after.w / after.h, 16.0 / 9, 0.01);
  EXPECT_NEAR((100 - fitted.picture.x) / fitted.picture.w, (100 - after.x) / after.w, 0.01);
  const Rect moved = place({720, 576}, area, panned({720, 576}, area, zoomed, 50, 0)).picture;
  EXPECT_NEAR(moved.x - after.x, 50, 1.5);
  EXPECT_EQ(zoomed_at({720, 576}, area, zoomed, 100, 200, 0.5).pixel_aspect, view.pixel_aspect);
}

TEST(Placement, ZoomKeepsThePointUnderThePointer) {
  const Extent picture{640, 480};
  const Rect area{10, 20, 1000, 700};
  const float x = 300, y = 200;
  PictureView view;
  const Rect before = place(picture, area, view).picture;
  for (int i = 0; i < 6; ++i) view = zoomed_at(picture, area, view, x, y, 1.3);
  const Rect after = place(picture, area, view).picture;
  // The tolerance covers the rounding in place().
  EXPECT_NEAR((x - before.x) / before.w, (x - after.x) / after.w, 1.5 / before.w);
  EXPECT_NEAR((y - before.y) / before.h, (y - after.y) / after.h, 1.5 / before.h);
}

TEST(Placement, ZoomIsBoundedAndFineStepsLeaveASnap) {
  const Rect area{0, 0, 640, 480};
  PictureView view;
  for (int i = 0; i < 100; ++i) view = zoomed_at({640, 480}, area, view, 5, 5, 2);
  EXPECT_LE(place({640, 480}, area, view).scale, 64);
  view = {};
  for (int i = 0; i < 10; ++i) view = zoomed_at({640, 480}, area, view, 320, 240, 1.01);
  EXPECT_GT(view.zoom, 1.05);
  EXPECT_DOUBLE_EQ(place({1000, 1000}, area, actual_size({1000, 1000}, area, {})).scale, 1);
  const PictureView small = actual_size({16, 16}, area, {});
  EXPECT_DOUBLE_EQ(place({16, 16}, area, zoomed_at({16, 16}, area, small, 320, 240, 0.8)).scale, 1);
  EXPECT_NEAR(place({16, 16}, area, zoomed_at({16, 16}, area, small, 320, 240, 1.25)).scale, 1.25, 1e-9);
}

TEST_F(Panels, EveryKeyIsVisible) {
  type('?');
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1920, 1080}, ImVec2{2560, 1440}, ImVec2{1000, 700}}) {
    ImGui::GetIO().DisplaySize = size;
    frames(4);
    const Rect all = viewer.widget_rects().at("keys");
    for (const KeyHelp& line : key_help()) {
      const auto found = viewer.widget_rects().find(fmt::format("keys/{}", line.keys));
      ASSERT_NE(found, viewer.widget_rects().end()) << line.keys;
      EXPECT_LE(found->second.y + found->second.h, all.y + all.h) << line.keys << " at " << size.x;
    }
    EXPECT_GE(all.x, 0);
    EXPECT_LE(all.x + all.w, size.x);
    EXPECT_LE(all.y + all.h, size.y);
  }
}

TEST_F(Panels, TheKeysHaveAButton) {
  frames(2);  // until the bar's layout has settled
  click("view/keys");
  EXPECT_TRUE(viewer.state().help);
  frame();
  click("view/keys");
  EXPECT_FALSE(viewer.state().help) << "the same button closes them";
}

TEST_F(Panels, BarsFitOverNarrowPictures) {
  viewer.state().compare.mode = CompareMode::split;
  for (const float width : {1280.f, 900.f, 700.f, 640.f}) {
    ImGui::GetIO().DisplaySize = {width, 480};
    frames(4);
    const Rect area = viewer.widget_rects().at("picture");
    for (const auto& [name, r] : viewer.widget_rects()) {
      if (name.rfind("view/", 0) != 0 && name.rfind("compare/", 0) != 0) continue;
      EXPECT_GE(r.x, area.x) << name << " at " << width;
      EXPECT_LE(r.x + r.w, area.x + area.w) << name << " at " << width;
    }
  }
}

TEST_F(Panels, SmallValuesAreNotShownAsZero) {
  ParamSpec spec{.name = "min_eigen", .unit = "", .doc = "", .type = ParamType::real, .min = 0, .max = 1};
  spec.default_value = 1e-4;
  EXPECT_EQ(shown_value(spec, 1e-4), "0.0001");
  EXPECT_EQ(shown_value(spec, 0.5), "0.5000");
  EXPECT_EQ(shown_value(spec, 2e-7), "2.0e-07");
  EXPECT_EQ(shown_value(spec, 0.0), "0.0000");
  spec.default_value = 0.7;
  EXPECT_EQ(shown_value(spec, 0.7), "0.700");
}

TEST_F(Panels, ZeroIsShownByItsMeaning) {
  ParamSpec spec{.name = "radius", .unit = "px", .doc = "", .type = ParamType::integer, .min = 0, .max = 9};
  EXPECT_EQ(shown_value(spec, int64_t{0}), "0 px");
  spec.zero = "from sigma";
  EXPECT_EQ(shown_value(spec, int64_t{0}), "from sigma");
  EXPECT_EQ(shown_value(spec, int64_t{3}), "3 px");
  spec.type = ParamType::real;
  EXPECT_EQ(shown_value(spec, 0.0), "from sigma");
}

TEST_F(Panels, LogByKeyWithLevels) {
  type('e');
  frame();
  ASSERT_TRUE(viewer.state().log.open);
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 3u);
  click("log/warning");
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 2u);
  click("log/error");
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 1u);
  click("log/copy");
  EXPECT_STREQ(ImGui::GetClipboardText(), "12:30:03 error: no trace: the disk is full\n");
  click("log/close");
  EXPECT_FALSE(viewer.state().log.open);
  EXPECT_EQ(log_level("no time"), 0);
  EXPECT_EQ(log_level("12:30:03 critical: x"), 2);
}

}  // namespace
}  // namespace lensd::ui
