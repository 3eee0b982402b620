// The rectangle of a crop node: its geometry, its sliders, and dragging it on the picture.
#include <gtest/gtest.h>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/keys.hpp"

namespace lensd::ui {
namespace {

constexpr Extent kInput{768, 576};

TEST(CropEdit, GripsMoveTheirEdgesAndStayInThePicture) {
  const PixelRect start{100, 50, 200, 150};
  EXPECT_EQ(dragged(start, {-1, 0, false}, 30, 99, kInput), (PixelRect{130, 50, 170, 150}));
  EXPECT_EQ(dragged(start, {1, 1, false}, 40, -20, kInput), (PixelRect{100, 50, 240, 130}));
  EXPECT_EQ(dragged(start, {0, -1, false}, 30, -200, kInput), (PixelRect{100, 0, 200, 200}));
  EXPECT_EQ(dragged(start, {0, 0, true}, -500, 1000, kInput), (PixelRect{0, 426, 200, 150}));
  EXPECT_EQ(dragged(start, {1, 0, false}, 5000, 0, kInput), (PixelRect{100, 50, 668, 150}));
}

TEST(CropEdit, ARectangleKeepsSixteenPixels) {
  const PixelRect start{100, 50, 200, 150};
  EXPECT_EQ(dragged(start, {1, 0, false}, -5000, 0, kInput).width, kTinySide);
  EXPECT_EQ(dragged(start, {-1, -1, false}, 5000, 5000, kInput), (PixelRect{284, 184, 16, 16}));
  // A rectangle or a picture below the minimum size is not enlarged.
  EXPECT_EQ(dragged({5, 5, 4, 4}, {1, 0, false}, -10, 0, kInput).width, 4);
  EXPECT_EQ(dragged({0, 0, 8, 8}, {1, 1, false}, -10, -10, {8, 8}), (PixelRect{0, 0, 8, 8}));
}

TEST(CropEdit, TheResultLiesInAPictureThatBecameSmaller) {
  const PixelRect start{500, 400, 200, 150};
  EXPECT_EQ(dragged(start, {0, 0, true}, 5, 5, {160, 120}), (PixelRect{0, 0, 160, 120}));
  EXPECT_EQ(dragged(start, {1, 1, false}, 10, 10, {320, 240}), (PixelRect{120, 90, 200, 150}));
  EXPECT_EQ(dragged(start, {-1, 0, false}, -20, 0, {320, 240}), (PixelRect{100, 90, 220, 150}));
}

class CropPanel : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    model.graph.nodes = {{.id = "crop", .filter = "crop"}};
    model.graph.output = "crop";
    model.graph = resolved(model.graph, test::sample_registry());
    model.nodes = {node_view(model.graph.nodes[0], *crop())};
    set_result({768, 576});
    ++model.graph_version;
    frames(3);
  }
  static const FilterSchema* crop() { return &test::sample_registry().find("crop")->schema(); }
  void set_result(Extent size) {
    model.nodes[0].size = size;
    model.nodes[0].format = fmt::format("{}×{} RGBA8", size.width, size.height);
  }
  void follow(const Commands& commands) override {
    for (const Command& command : commands) obey(command);
  }
  void obey(const Command& command) {
    if (const auto* c = std::get_if<EditMark>(&command)) model.graph_mark = c->mark, ++model.graph_version;
    if (const auto* c = std::get_if<SetGraph>(&command)) model.graph = c->graph;
    if (const auto* c = std::get_if<SetEnabled>(&command)) model.graph.find(c->node)->enabled = c->enabled;
    if (const auto* c = std::get_if<SetParam>(&command)) test::set_value(model, c->node, c->param, c->value);
    if (const auto* c = std::get_if<SetViews>(&command)) model.views = c->nodes;
    if (const auto* c = std::get_if<Batch>(&command))
      for (const auto& change : c->changes)
        std::visit([this](const auto& one) { obey(Command(one)); }, change);
  }
  int value(const char* param) const {
    return static_cast<int>(std::get<int64_t>(value_of(*model.graph.find("crop"), *crop()->find(param))));
  }
  /// Expects this rectangle within 2 pixels, because a screen pixel covers more than one picture pixel.
  void expect_rectangle(const PixelRect& r) const {
    EXPECT_NEAR(value("x"), r.x, 2);
    EXPECT_NEAR(value("y"), r.y, 2);
    EXPECT_NEAR(value("width"), r.width, 2);
    EXPECT_NEAR(value("height"), r.height, 2);
  }
  void drag(float x, float y, float to_x, float to_y) {
    point(x, y), frames(2);
    button(true), frame();
    point((x + to_x) / 2, (y + to_y) / 2), frame();
    point(to_x, to_y), frames(2);
    button(false), frames(2);
  }
};

TEST_F(CropPanel, SlidersFollowThePicture) {
  click("graph/crop/x", 0, 0.5f);
  EXPECT_NEAR(value("x"), 384, 20);
  click("graph/crop/height", 0, 0.5f);
  EXPECT_NEAR(value("height"), 288, 20);
  model.source_size = {1920, 1080};
  click("graph/crop/x", 0, 0.5f);
  EXPECT_NEAR(value("x"), 960, 40);
}

TEST_F(CropPanel, ValuesOutsideThePictureAreKept) {
  test::set_value(model, "crop", "x", int64_t{5000});
  ++model.graph_version;
  frames(3);
  EXPECT_TRUE(there("graph/crop/x"));
  EXPECT_EQ(value("x"), 5000);
}

TEST_F(CropPanel, TheRectangleIsDraggedOnThePicture) {
  EXPECT_FALSE(there("crop/rectangle"));
  type('c'), frames(2);
  ASSERT_TRUE(there("crop/rectangle"));
  EXPECT_EQ(viewer.first_picture(), kSourceNode);
  EXPECT_EQ(model.views, std::vector<std::string>{kSourceNode});
  const Rect all = rect("crop/rectangle");
  const auto at = [&](float x, float y) { return ImVec2{all.x + all.w * x, all.y + all.h * y}; };
  drag(at(0, 0).x, at(0, 0).y, at(0.25f, 0.5f).x, at(0.25f, 0.5f).y);
  expect_rectangle({192, 288, 576, 288});
  // Drag from 3 pixels within the edge, because the panel's border may be at the edge.
  drag(at(1, 0.75f).x - 3, at(1, 0.75f).y, at(0.75f, 0.9f).x - 3, at(0.75f, 0.9f).y);
  expect_rectangle({192, 288, 384, 288});
  drag(at(0.5f, 0.75f).x, at(0.5f, 0.75f).y, at(0.25f, 0.25f).x, at(0.25f, 0.25f).y);
  expect_rectangle({0, 0, 384, 288});
  EXPECT_TRUE(viewer.view().fits()) << "the picture was moved";
  press({.character = 'z', .ctrl = true}), frames(2);
  expect_rectangle({192, 288, 384, 288});  // undo reverts a whole drag
  press({.key = Key::escape}), frames(2);
  EXPECT_FALSE(there("crop/rectangle"));
  EXPECT_TRUE(model.views.empty());
  EXPECT_EQ(viewer.first_picture(), "");
}

TEST_F(CropPanel, ADragInBothDirectionsIsOneUndoStep) {
  type('c'), frames(2);
  const Rect all = rect("crop/rectangle");
  point(all.x, all.y), frames(2);
  button(true), frame();
  for (const ImVec2 by : {ImVec2{60, 0}, ImVec2{60, 40}, ImVec2{90, 40}})
    point(all.x + by.x, all.y + by.y), frames(2);
  button(false), frames(2);
  EXPECT_GT(value("x"), 0);
  EXPECT_GT(value("y"), 0);
  const GraphHistory& history = viewer.state().editor.history();
  EXPECT_EQ(history.steps(), 1u);
  EXPECT_EQ(history.undo_name(), "crop rectangle");
}

TEST_F(CropPanel, TheSizeStaysInViewIfThePictureIsEnlarged) {
  type('c'), frames(2);
  const Rect area = viewer.picture_rect();
  for (const double centre : {0.0, 0.5, 1.0}) {
    viewer.state().view = {.zoom = 4, .centre_x = centre, .centre_y = centre};
    frames(2);
    const Rect label = rect("crop/label");
    EXPECT_GE(label.y, area.y) << centre;
    EXPECT_LE(label.y + label.h, area.y + area.h) << centre;
  }
}

TEST_F(CropPanel, TheRectangleReplacesAComparison) {
  type('a'), frames(2);
  type('c'), frames(2);
  EXPECT_TRUE(there("crop/rectangle"));
  EXPECT_EQ(viewer.state().compare.mode, CompareMode::off);
  type('d'), frames(2);
  EXPECT_FALSE(there("crop/rectangle"));
  click("graph/crop/on_picture"), frames(2);
  EXPECT_TRUE(there("crop/rectangle"));
  type('a'), frames(2);
  type('c'), frames(2);
  EXPECT_TRUE(there("crop/rectangle")) << "hidden by the comparison: shown again";
  type('c'), frames(2);
  EXPECT_FALSE(there("crop/rectangle"));
}

TEST_F(CropPanel, ANodeThatIsOffHasNoRectangle) {
  type('c'), frames(2);
  EXPECT_EQ(viewer.state().crop.node, "crop");
  type('1'), frames(2);
  EXPECT_EQ(viewer.state().crop.node, "");
  type('c');
  ASSERT_EQ(viewer.requests().messages.size(), 1u);
  EXPECT_EQ(viewer.requests().messages[0].second, "crop is off; switch it on to drag its rectangle");
  EXPECT_EQ(viewer.state().crop.node, "");
  type('1'), frames(2);
  type('c');
  EXPECT_EQ(viewer.state().crop.node, "crop");
}

TEST_F(CropPanel, ARenamedNodeKeepsItsRectangle) {
  type('c'), frames(2);
  point_at("graph/crop/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  frame();
  ASSERT_TRUE(there("graph/crop/name"));
  type("cut");
  press({.key = Key::enter}), frames(3);
  EXPECT_EQ(viewer.state().crop.node, "cut");
  EXPECT_TRUE(there("crop/rectangle"));
}

TEST_F(CropPanel, TinyResultsAreMarked) {
  EXPECT_FALSE(there("graph/crop/tiny"));
  set_result({1, 480}), frames(2);
  EXPECT_TRUE(there("graph/crop/tiny"));
  EXPECT_EQ(ink_of("1×480"), colour::problem);
  set_result({16, 16}), frames(2);
  EXPECT_EQ(ink_of("16×16"), colour::dim);
  EXPECT_FALSE(there("graph/crop/tiny"));
}

TEST_F(CropPanel, TheButtonEditsAndTheRemovedNodeEndsIt) {
  click("graph/crop/on_picture"), frames(2);
  EXPECT_TRUE(there("crop/label"));
  viewer.state().editor.remove("crop"), frames(3);
  EXPECT_FALSE(there("crop/label"));
  EXPECT_TRUE(viewer.state().crop.node.empty());
  type('c'), frames(2);
  EXPECT_FALSE(there("crop/label"));
}

}  // namespace
}  // namespace lensd::ui
