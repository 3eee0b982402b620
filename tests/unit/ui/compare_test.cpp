// Comparison, probe and zoom: the requests that the user interface sends. Needs no display.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

using Names = std::vector<std::string>;

/// A viewer with simulated input whose model follows SetScopes and SetViews like the program's.
class PictureTools : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    frame();
  }
  void follow(const Commands& commands) override {
    for (const Command& command : commands) {
      if (const auto* set = std::get_if<SetScopes>(&command)) model.scopes = set->scopes;
      if (const auto* set = std::get_if<SetViews>(&command)) model.views = set->nodes;
    }
  }
  void point(float x, float y) { PanelDriver::point(x, y), frames(2); }
  void button(bool down) { PanelDriver::button(down), frames(2); }
};

TEST_F(PictureTools, ComparingRequestsThePicturesAndTheirMetrics) {
  EXPECT_TRUE(frame().empty());
  EXPECT_EQ(type('a').size(), 2u);
  EXPECT_EQ(viewer.compare_look().mode, CompareMode::split);
  EXPECT_EQ(viewer.second_picture(), "source");
  EXPECT_EQ(viewer.first_picture(), "");
  EXPECT_EQ(model.views, Names{"source"});
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"source", ScopeKind::compare, ""}}));
  EXPECT_TRUE(frame().empty()) << "requested once";
  EXPECT_EQ(type('d').size(), 0u) << "another look at the same two";
  EXPECT_EQ(viewer.compare_look().mode, CompareMode::difference);
  type('d');
  EXPECT_EQ(viewer.compare_look().mode, CompareMode::off);
  EXPECT_EQ(viewer.second_picture(), std::nullopt);
  EXPECT_TRUE(model.views.empty());
  EXPECT_TRUE(model.scopes.empty());
}

TEST_F(PictureTools, AnyTwoNodesAreCompared) {
  click("view/compare");
  click("compare/A"), click("compare/A/median");
  EXPECT_EQ(model.views, Names{"median"});
  click("compare/B"), click("compare/B/edges");
  EXPECT_EQ(model.views, (Names{"median", "edges"}));
  EXPECT_EQ(viewer.second_picture(), "median");
  EXPECT_EQ(viewer.first_picture(), "edges");
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"median", ScopeKind::compare, "edges"}}));
  click("compare/A");
  EXPECT_FALSE(there("compare/A/to-gray")) << "conversions are not user nodes";
  click("compare/A/source");
  click("compare/B"), click("compare/B/output");
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"source", ScopeKind::compare, ""}}));
  click("view/compare_close");
  EXPECT_TRUE(model.views.empty());
  EXPECT_FALSE(there("compare/A"));
}

TEST_F(PictureTools, ModesByButton) {
  click("view/compare");
  for (const auto& [name, mode] : {std::pair("view/compare_side", CompareMode::side),
                                   std::pair("view/compare_heat", CompareMode::difference),
                                   std::pair("view/compare_split", CompareMode::split)}) {
    click(name);
    EXPECT_EQ(viewer.compare_look().mode, mode) << name;
    EXPECT_EQ(there("compare/handle"), mode == CompareMode::split);
    EXPECT_EQ(there("compare/gain"), mode == CompareMode::difference);
  }
}

TEST_F(PictureTools, RemovedNodesAreNoLongerCompared) {
  viewer.state().compare = {.mode = CompareMode::split, .a = "edges", .b = "convolve"};
  frame();
  EXPECT_EQ(model.views, (Names{"edges", "convolve"}));
  for (const char* node : {"edges", "convolve"}) test::drop_node(model, node);
  frame();
  EXPECT_EQ(model.views, Names{"source"});
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"source", ScopeKind::compare, ""}}));
}

TEST_F(PictureTools, RenamedNodesAreStillComparedAndMeasured) {
  UiState& s = viewer.state();
  s.compare = {.mode = CompareMode::split, .a = "median", .b = "edges"};
  s.scopes.node = s.graph.selected = "edges", s.graph.folded = {"edges"};
  frame();
  ASSERT_TRUE(s.editor.rename("edges", "lines"));
  const Commands sent = frame();
  ASSERT_FALSE(sent.empty());
  EXPECT_TRUE(std::holds_alternative<SetGraph>(sent.front())) << "the running graph lacks the new name";
  EXPECT_EQ(s.editor.former_name("lines"), "edges");
  frame();  // the running graph still has the old name
  EXPECT_EQ(model.views, (Names{"median", "lines"}));
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"median", ScopeKind::compare, "lines"}}));
  EXPECT_EQ(s.scopes.node, "lines");
  EXPECT_EQ(s.graph.selected, "lines");
  s.editor.undo();
  frame();
  EXPECT_EQ(model.views, (Names{"median", "edges"}));
  EXPECT_EQ(s.scopes.node, "edges");
  EXPECT_EQ(s.graph.folded, std::set<std::string>{"edges"});
}

TEST_F(PictureTools, TheHandleFollowsTheMouseAndThePictureStays) {
  type('a'), frame();
  const Rect handle = rect("compare/handle"), area = viewer.picture_rect();
  const float x = handle.x + handle.w / 2, y = handle.y + handle.h / 2;
  EXPECT_NEAR(x, area.x + area.w / 2, 1);
  point(x, y), button(true);
  point(x + 100, y - 30);
  EXPECT_NEAR(viewer.compare_look().split_x, x + 100, 1);
  EXPECT_TRUE(viewer.view().fits());
  point(5, y);  // over the graph panel: the split is clamped to the picture's area
  EXPECT_EQ(viewer.compare_look().split_x, area.x);
  point(1275, y);
  EXPECT_NEAR(viewer.compare_look().split_x, area.x + area.w, 1);
  point(x - 50, y), button(false);
  point(x + 10, y);
  EXPECT_NEAR(viewer.compare_look().split_x, x - 50, 1) << "let go";
}

TEST_F(PictureTools, ADoubleClickOnTheHandleIsNotOneOnThePicture) {
  type('a'), frames(2);
  const Rect area = viewer.picture_rect();
  const auto toggles = [&](float x) {
    point(area.x + area.w * x, area.y + area.h / 2);
    PanelDriver::button(true), frame();
    PanelDriver::button(false), frame();
    PanelDriver::button(true), frame();
    const bool toggled = viewer.requests().toggle_fullscreen;
    PanelDriver::button(false), frames(60);
    return toggled;
  };
  EXPECT_FALSE(toggles(0.5f));
  EXPECT_TRUE(toggles(0.25f));
}

TEST_F(PictureTools, TheLineIsAsLongAsThePictureIsHigh) {
  type('a'), frame();
  const Rect picture = place(model.picture, viewer.picture_rect(), viewer.view()).picture;
  ASSERT_LT(picture.h, viewer.picture_rect().h - 20) << "there is room above and below";
  EXPECT_NEAR(rect("compare/line").y, picture.y, 1);
  EXPECT_NEAR(rect("compare/line").h, picture.h, 1);
  viewer.state().view = {.zoom = 8};
  frame();
  EXPECT_NEAR(rect("compare/line").h, viewer.picture_rect().h, 1);
}

TEST_F(PictureTools, TheBarsGoWhereThePictureHasNoRoomForThem) {
  type('a'), frames(2);
  EXPECT_TRUE(there("view/zoom"));
  EXPECT_TRUE(there("view/compare_heat"));
  viewer.state().left = viewer.state().right = Fold::open;
  viewer.state().stats = true;
  ImGui::GetIO().DisplaySize = {780, 700};
  frames(2);
  EXPECT_FALSE(there("view/compare"));
  EXPECT_FALSE(there("view/compare_heat"));
  EXPECT_GE(rect("stats").y, rect("compare/label").y + rect("compare/label").h);
}

TEST_F(PictureTools, NoBarHidesALabel) {
  type('a'), frames(2);
  viewer.state().left = viewer.state().right = Fold::folded;
  viewer.state().compare.a = "a node with a long name";
  viewer.state().stats = true;
  const auto apart = [](const Rect& a, const Rect& b) {
    return a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
  };
  for (const float width : {1600.f, 1000.f, 900.f, 760.f, 640.f, 560.f, 420.f})
    for (const CompareMode mode : {CompareMode::split, CompareMode::side, CompareMode::difference}) {
      ImGui::GetIO().DisplaySize = {width, 700};
      viewer.state().compare.mode = mode;  // the last one is the difference
      frames(3);
      ASSERT_TRUE(there("view/fit") && there("compare/bar")) << width;
      EXPECT_TRUE(apart(rect("compare/label"), rect("compare/bar"))) << width;
      EXPECT_TRUE(apart(rect("compare/label"), rect("view/fit"))) << width;
      EXPECT_TRUE(apart(rect("stats"), rect("compare/bar"))) << width;
      EXPECT_TRUE(apart(rect("stats"), rect("compare/label"))) << width;
      EXPECT_GE(rect("compare/label").x, viewer.picture_rect().x) << width;
    }
  // The label of a difference names both nodes.
  for (float width = 600; width < 1600; width += 50) {
    ImGui::GetIO().DisplaySize = {width, 700};
    frames(3);
    EXPECT_TRUE(apart(rect("compare/label"), rect("compare/bar"))) << width;
    EXPECT_TRUE(apart(rect("compare/label"), rect("view/fit"))) << width;
  }
}

TEST_F(PictureTools, BesideTheHandleADragMovesThePicture) {
  type('a');
  viewer.state().view = {.zoom = 2};
  const Rect area = viewer.picture_rect();
  const float x = area.x + area.w / 4, y = area.y + area.h * 0.75f, split = viewer.compare_look().split_x;
  point(x, y), button(true);
  point(x + 40, y), point(x + 60, y);
  button(false);
  EXPECT_LT(viewer.view().centre_x, 0.5);
  EXPECT_EQ(viewer.compare_look().split_x, split);
}

TEST_F(PictureTools, TheOutputIsPictureATheSourceIsPictureB) {
  click("view/compare");
  click("compare/A"), click("compare/A/output");
  click("compare/B"), click("compare/B/source");
  EXPECT_EQ(viewer.second_picture(), std::optional<std::string>(""));
  EXPECT_EQ(viewer.first_picture(), "source");
}

TEST_F(PictureTools, BypassNeedsTheSource) {
  InputState held;
  held.held_letters = 1u << ('b' - 'a');
  frame(held);
  EXPECT_EQ(model.views, Names{"source"});
  frame();
  EXPECT_TRUE(model.views.empty());
}

TEST_F(PictureTools, TheProbeNamesThePixelUnderThePointer) {
  type('x');
  EXPECT_EQ(model.views, Names{"source"});
  const ProbeState& probe = viewer.state().probe;
  for (const auto& [x, y] : {std::pair(0, 300), std::pair(767, 301), std::pair(383, 555)}) {
    point_at_pixel(x, y);
    EXPECT_TRUE(probe.over);
    EXPECT_NEAR(probe.x, x, 1);
    EXPECT_NEAR(probe.y, y, 1);  // reduced: a screen pixel covers several picture pixels
  }
  type('1', true);  // at 1:1, a screen pixel is one picture pixel
  const Rect at = place(model.picture, viewer.picture_rect(), viewer.view()).picture;
  for (const float part : {0.f, 0.4f}) {
    point(at.x + 301 + part, at.y + 222 + part);
    EXPECT_EQ(probe.x, 301);
    EXPECT_EQ(probe.y, 222);
  }
  point(20, 300);  // over a panel
  EXPECT_FALSE(probe.over);
  viewer.state().scopes.node = "edges";  // the selected node is probed too
  frame();
  EXPECT_EQ(model.views, (Names{"source", "edges"}));
  type('x');
  EXPECT_TRUE(model.views.empty());
}

TEST_F(PictureTools, ARefusedGainIsAMessage) {
  viewer.state().compare.mode = CompareMode::difference;
  frames(4);
  std::string said;
  const auto type_gain = [&](const char* text) {
    set_ctrl(true), click("compare/gain"), set_ctrl(false);
    frames(3);
    type(text);
    press({.key = Key::enter});
    for (const auto& message : viewer.requests().messages) said += message.second;
    frame();
    for (const auto& message : viewer.requests().messages) said += message.second;
    frames(2);
  };
  type_gain("99");
  EXPECT_NE(said.find("99 is not allowed"), std::string::npos) << said;
  EXPECT_LE(viewer.state().compare.gain, 32);
  type_gain("8");
  EXPECT_EQ(viewer.state().compare.gain, 8);
}

TEST_F(PictureTools, TheProbesTableIsBesideThePointer) {
  type('x');
  const Rect area = viewer.picture_rect();
  for (const int x : {4, 380, 763})
    for (const int y : {4, 290, 571}) {
      model.probe_x = x, model.probe_y = y;
      model.probe = {{"output", false, false, {0x11, 0x11, 0x11, 0xff}}};
      point_at_pixel(x, y), frames(3);
      const Rect table = rect("probe/table");
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      SCOPED_TRACE(testing::Message() << "pixel " << x << ", " << y);
      EXPECT_FALSE(table.contains(mouse.x, mouse.y));
      EXPECT_TRUE(area.contains(table.x, table.y));
      EXPECT_TRUE(area.contains(table.x + table.w - 1, table.y + table.h - 1));
      const float across = std::max({table.x - mouse.x, mouse.x - table.x - table.w, 0.f});
      const float down = std::max({table.y - mouse.y, mouse.y - table.y - table.h, 0.f});
      EXPECT_GT(across, 0) << "the table hides the pixels above or below";
      EXPECT_GT(down, 0) << "the table hides the pixels beside";
      EXPECT_LT(std::max(across, down), 90) << "far from the pixel";
    }
}

TEST_F(PictureTools, TheProbeHasAConstantWidth) {
  type('x');
  model.probe_x = 300, model.probe_y = 200;
  bool deep = false;
  const auto width_of = [&](Rgba16 value) {
    model.probe = {{"output", false, deep, value}};
    point_at_pixel(300, 200), frames(3);
    return rect("probe/table").w;
  };
  const float narrow = width_of({0x11, 0x11, 0x11, 0xff});
  EXPECT_EQ(width_of({0xdb, 0xdd, 0xbd, 0xff}), narrow);
  EXPECT_EQ(width_of({0x0f, 0x88, 0xee, 0xff}), narrow);
  deep = true;
  const float wide = width_of({0x1111, 0x1111, 0x1111, 0xffff});
  EXPECT_GT(wide, narrow) << "12 hexadecimal digits, and YCbCr with 5 digits";
  EXPECT_EQ(width_of({0xdbdd, 0xdddb, 0xbdbd, 0xffff}), wide);
}

TEST_F(PictureTools, OnlyVisiblePixelsAreRead) {
  const ProbeState& probe = viewer.state().probe;
  EXPECT_TRUE(probe.patch == Extent{}) << "too far away";
  viewer.state().view.zoom = 32 / fit_scale(model.picture, viewer.picture_rect());
  frame();
  const Rect area = viewer.picture_rect();
  EXPECT_NEAR(static_cast<double>(probe.patch.width), area.w / 32.0, 2);
  EXPECT_NEAR(static_cast<double>(probe.patch.height), area.h / 32.0, 2);
  EXPECT_NEAR(probe.patch_x + probe.patch.width / 2, 384, 1);
  viewer.state().compare.mode = CompareMode::split;
  frame();
  EXPECT_NEAR(probe.patch_x, 384, 1) << "the pixels of A have the numbers of B";
  viewer.state().compare.mode = CompareMode::off;
  viewer.state().view.centre_x = viewer.state().view.centre_y = 1;  // corner in the middle
  frame();
  EXPECT_EQ(probe.patch_x + probe.patch.width, 768);
  EXPECT_EQ(probe.patch_y + probe.patch.height, 576);
  viewer.state().view.zoom /= 4;
  frame();
  EXPECT_TRUE(probe.patch == Extent{});
}

TEST_F(PictureTools, WidePixelsHaveNoGridUntilTheyAreHighEnough) {
  model.picture = {1, 4000};
  type('A'), frame();  // 16:9
  EXPECT_TRUE(viewer.state().probe.patch == Extent{}) << "a column of 4000 rows, each as wide as the window";
  viewer.state().view.zoom = 20 / place(model.picture, viewer.picture_rect(), viewer.view()).scale;
  frame();
  EXPECT_EQ(viewer.state().probe.patch.width, 1);
  EXPECT_LT(viewer.state().probe.patch.height, 60);
}

TEST_F(PictureTools, ChannelsByMenu) {
  for (const auto& [name, channel] :
       {std::pair("view/channel/R", ChannelView::red), std::pair("view/channel/Luma", ChannelView::luma),
        std::pair("view/channel/RGB", ChannelView::colour)}) {
    click("view/channel"), click(name);
    EXPECT_EQ(viewer.compare_look().channel, channel) << name;
  }
}

TEST_F(PictureTools, SnapshotAndRecordAreRequestedOnce) {
  type('s');
  EXPECT_TRUE(viewer.requests().snapshot);
  type('S');
  EXPECT_TRUE(viewer.requests().snapshot_window);
  EXPECT_FALSE(viewer.requests().snapshot);
  type('r');
  EXPECT_TRUE(viewer.requests().toggle_record);
  frame();
  EXPECT_FALSE(viewer.requests().toggle_record || viewer.requests().snapshot_window);
}

TEST_F(PictureTools, EveryModeIsDrawnInEverySize) {
  type('x');
  model.probe = {{"source", false, false, {12, 200, 255, 255}},
                 {"gray", true, false, {7, 7, 7, 255}},
                 {"output", false, true, {65535, 12345, 7, 65535}}};
  model.probe_x = 3, model.probe_y = 4;
  model.patch.assign(64, {200, 10, 20, 255}), model.patch_x = 380, model.patch_y = 284;
  model.patch_size = {8, 8};
  model.has_second = true;
  for (const ImVec2 size : {ImVec2{1920, 1080}, ImVec2{1280, 720}, ImVec2{500, 300}, ImVec2{1, 1}}) {
    ImGui::GetIO().DisplaySize = size;
    for (const CompareMode mode :
         {CompareMode::split, CompareMode::side, CompareMode::difference, CompareMode::off})
      for (const bool compared : {false, true})
        for (const double zoom : {1.0, 60.0}) {
          viewer.state().compare.mode = mode;
          viewer.state().view.zoom = zoom;
          model.compared = compared;
          point(size.x * 0.5f, size.y * 0.5f);
          EXPECT_TRUE(frame().empty());
        }
  }
}

}  // namespace
}  // namespace lensd::ui
