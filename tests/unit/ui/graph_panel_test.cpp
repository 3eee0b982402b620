// The graph panel with simulated input, without a display: what is shown and sent.
#include <gtest/gtest.h>

#include "tests/unit/ui/graph_panel_driver.hpp"

namespace lensd::ui {
namespace {

TEST_F(GraphPanel, ANodeIsMovedByDraggingItsName) {
  EXPECT_EQ(order(), "median edges convolve ");
  const Rect last = rect("graph/convolve/title");
  drag("graph/median/title", last.x + 40, last.y + 400);
  EXPECT_EQ(order(), "edges convolve median ");
  EXPECT_EQ(model.graph.output, "median");
  const Rect first = rect("graph/edges/title");
  drag("graph/median/title", first.x + 40, first.y - 10);
  EXPECT_EQ(order(), "median edges convolve ");
  press({.character = 'z', .ctrl = true});
  EXPECT_EQ(order(), "edges convolve median ");
  press({.character = 'y', .ctrl = true});
  EXPECT_EQ(order(), "median edges convolve ");
  click("graph/undo");
  EXPECT_EQ(order(), "edges convolve median ");
  click("graph/redo");
  EXPECT_EQ(order(), "median edges convolve ");
}

TEST_F(GraphPanel, ThePrecisionIsShownAndChosen) {
  model.bits = 16;
  frames(2);
  click("graph/precision"), frames(2);
  const Commands& sent = click("precision/8");
  const auto* eight = only<SetPrecision>(sent);
  ASSERT_NE(eight, nullptr);
  EXPECT_EQ(eight->precision, Precision::eight);
  frames(2);
  EXPECT_FALSE(there("precision/8")) << "the menu closes";
  model.precision = Precision::eight, model.bits = 8;
  click("graph/precision"), frames(2);
  const auto* automatic = only<SetPrecision>(click("precision/auto"));
  ASSERT_NE(automatic, nullptr);
  EXPECT_EQ(automatic->precision, Precision::automatic);
}

TEST_F(GraphPanel, EscapeDropsADragWhereItWas) {
  point_at("graph/median/title");
  button(true), frame();
  const Rect last = rect("graph/convolve/title");
  point(last.x + 20, last.y + 300), frames(2);
  press({.key = Key::escape});
  button(false), frames(2);
  EXPECT_EQ(order(), "median edges convolve ");
}

TEST_F(GraphPanel, ADragEndsIfThePanelsAreHidden) {
  point_at("graph/median/title");
  button(true), frame();
  const Rect last = rect("graph/convolve/title");
  point(last.x + 20, last.y + 300), frames(2);
  EXPECT_EQ(viewer.state().graph.dragged, "median");
  press({.key = Key::tab});
  button(false), frames(2);
  press({.key = Key::escape});
  EXPECT_TRUE(viewer.state().graph.dragged.empty());
  press({.key = Key::tab});
  frames(2);
  EXPECT_EQ(order(), "median edges convolve ");
}

TEST_F(GraphPanel, AFilterIsFoundByTypingAndAddedBelowTheSelectedNode) {
  click("graph/median/title");
  press({.character = '+'});
  frame();
  ASSERT_TRUE(there("add/search"));
  EXPECT_TRUE(there("add/mix"));
  type("edg");  // occurs only in canny's description
  EXPECT_TRUE(there("add/canny"));
  EXPECT_FALSE(there("add/mix"));
  press({.key = Key::enter});
  EXPECT_EQ(order(), "median canny edges convolve ");
  EXPECT_EQ(model.graph.find("edges")->inputs.front(), "canny");
  frame();
  EXPECT_FALSE(there("add/search")) << "the list is closed";
  EXPECT_EQ(viewer.state().graph.selected, "canny");
}

TEST_F(GraphPanel, ANewNodeShowsItsParameters) {
  GraphPanelState& g = viewer.state().graph;
  g.folded = {"canny", "edges2", "edges3"};  // of an earlier run
  point_at("graph/edges/title", 0.2f);
  click("graph/edges/more");
  click("graph/edges/menu/duplicate");
  EXPECT_EQ(g.selected, "edges2");
  g.selected = "edges";
  press({.character = 'd', .ctrl = true});
  EXPECT_EQ(g.selected, "edges3");
  add_filter("edg");  // canny
  EXPECT_EQ(g.selected, "canny");
  EXPECT_TRUE(g.folded.empty());
}

TEST_F(GraphPanel, ANewNodeWithARectangleIsEditedOnThePicture) {
  add_filter("edg");  // canny
  EXPECT_EQ(viewer.state().crop.node, "");
  add_filter("rectangle");  // crop
  EXPECT_EQ(viewer.state().graph.selected, "crop");
  EXPECT_EQ(viewer.state().crop.node, "crop");
}

TEST_F(GraphPanel, LongerPartsAreFoundWithinWords) {
  click("graph/add");
  frame();
  type("ind");
  EXPECT_FALSE(there("add/median"));
  type("ow");  // "Median over a square window"
  EXPECT_TRUE(there("add/median"));
}

TEST_F(GraphPanel, ArrowsChooseInTheList) {
  click("graph/add");
  frame();
  press({.key = Key::down}), press({.key = Key::down}), press({.key = Key::up});
  press({.key = Key::enter});
  EXPECT_EQ(order(), "median edges convolve canny ") << "below the output";
  click("graph/add");
  frame();
  press({.key = Key::escape});
  frame();
  EXPECT_FALSE(there("add/search"));
  EXPECT_EQ(model.graph.nodes.size(), 4u);
}

TEST_F(GraphPanel, LettersTypedIntoTheListAreNoShortcuts) {
  click("graph/add");
  press({.character = 'q'}), press({.character = ' '});
  EXPECT_FALSE(viewer.requests().quit);
}

TEST_F(GraphPanel, RemoveDuplicateAndSoloAreOnTheLineUnderThePointer) {
  EXPECT_FALSE(there("graph/edges/remove"));
  point_at("graph/edges/title", 0.2f);
  click("graph/edges/solo");
  EXPECT_EQ(solo, "edges");
  EXPECT_EQ(model.graph.output, "convolve") << "solo is not part of the graph";
  click("graph/edges/solo");
  EXPECT_EQ(solo, "");
  click("graph/edges/more");
  click("graph/edges/menu/duplicate");
  EXPECT_EQ(order(), "median edges edges2 convolve ");
  viewer.state().graph.selected = "edges";
  point_at("graph/edges/title", 0.2f);
  click("graph/edges/remove");
  EXPECT_EQ(order(), "median edges2 convolve ");
  EXPECT_EQ(viewer.state().graph.selected, "edges2") << "as after the key";
  click("graph/median/title");
  press({.key = Key::remove});
  EXPECT_EQ(order(), "edges2 convolve ");
  for (int i = 0; i < 3; ++i) click("graph/undo");
  EXPECT_EQ(order(), "median edges convolve ");
  EXPECT_EQ(messages.back(), "Undone: duplicate edges");
}

TEST_F(GraphPanel, StepButtonsAndTheArrowBackToTheDefault) {
  EXPECT_FALSE(there("graph/median/radius/reset"));
  click("graph/median/radius/plus"), click("graph/median/radius/plus");
  EXPECT_EQ(value("median", "radius"), ParamValue(int64_t{3}));
  click("graph/median/radius/minus");
  EXPECT_EQ(value("median", "radius"), ParamValue(int64_t{2}));
  click("graph/median/radius/reset");
  EXPECT_EQ(value("median", "radius"), ParamValue(int64_t{1}));
  click("graph/edges/aperture/plus");
  EXPECT_EQ(value("edges", "aperture"), ParamValue(int64_t{5})) << "odd numbers only";
}

TEST_F(GraphPanel, ShiftAndTheWheelGoInFineSteps) {
  point_at("graph/edges/low");
  const auto turn = [&](float by) {
#if IMGUI_VERSION_NUM >= 18700
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
#else
    ImGui::GetIO().KeyShift = true;
#endif
    wheel(by), frames(2);
  };
  turn(1), turn(1);
  const double up = std::get<double>(value("edges", "low"));
  EXPECT_GT(up, 50);
  EXPECT_LT(up, 60);
  turn(-1), turn(-1);
  EXPECT_DOUBLE_EQ(std::get<double>(value("edges", "low")), 50);
}

/// The first click of a double click moves the slider.
TEST_F(GraphPanel, ADoubleClickThatResetsASliderIsOneStep) {
  test::set_value(model, "edges", "low", 400.0), frames(2);
  const size_t before = viewer.state().editor.history().steps();
  point_at("graph/edges/low", 0.75f);
  button(true), frame();
  EXPECT_NEAR(std::get<double>(value("edges", "low")), 750, 30);
  for (const bool down : {false, true, false}) button(down), frame();
  frames(2);
  EXPECT_EQ(value("edges", "low"), ParamValue(50.0));
  EXPECT_EQ(viewer.state().editor.history().steps(), before + 1);
  viewer.state().editor.undo(), frames(2);
  EXPECT_EQ(value("edges", "low"), ParamValue(400.0));
}

TEST_F(GraphPanel, FewChoicesStandSideBySide) {
  click("graph/convolve/enabled");
  ASSERT_TRUE(there("graph/convolve/form/cross"));
  click("graph/convolve/form/cross");
  EXPECT_EQ(value("convolve", "form"), ParamValue(std::string("cross")));
}

TEST_F(GraphPanel, AKernelIsFilledAndResized) {
  click("graph/convolve/enabled");
  click("graph/convolve/kernel/fill");
  click("graph/convolve/kernel/fill/identity");
  EXPECT_EQ(std::get<Matrix>(value("convolve", "kernel")), (Matrix{3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0}}));
  click("graph/convolve/kernel/fill");
  click("graph/convolve/kernel/fill/sharpen");
  const Matrix sharpen = std::get<Matrix>(value("convolve", "kernel"));
  EXPECT_EQ(sharpen.values[4], 5);
  EXPECT_TRUE(there("graph/convolve/kernel/cell/2/2"));
  EXPECT_FALSE(there("graph/convolve/kernel/cell/3/3"));

  click("graph/convolve/kernel/cell/0/0");
  type("-2,5x");
  EXPECT_EQ(std::get<Matrix>(value("convolve", "kernel")).values[0], -2.5)
      << "a decimal comma, and no letter";
  click("graph/convolve/kernel/cell/2/2");  // a click on the active field would not select its text
  click("graph/convolve/kernel/cell/0/0");
  type("0e1");
  EXPECT_EQ(std::get<Matrix>(value("convolve", "kernel")), sharpen);

  click("graph/convolve/kernel/cols");
  click("graph/convolve/kernel/cols/5");
  const Matrix wide = std::get<Matrix>(value("convolve", "kernel"));
  EXPECT_EQ(wide, (Matrix{3, 5, {0, 0, -1, 0, 0, 0, -1, 5, -1, 0, 0, 0, -1, 0, 0}})) << "the centre stays";
  click("graph/convolve/kernel/cols");
  click("graph/convolve/kernel/cols/1");
  EXPECT_EQ(std::get<Matrix>(value("convolve", "kernel")), (Matrix{3, 1, {-1, 5, -1}}));
  click("graph/convolve/kernel/rows");
  click("graph/convolve/kernel/rows/1");
  EXPECT_EQ(std::get<Matrix>(value("convolve", "kernel")), (Matrix{1, 1, {5}}));
}

TEST_F(GraphPanel, AKernelThatIsChangedCountsAgainThoughOneWasComposed) {
  add_filter("correlate");
  test::set_value(model, "correlate", "compose", std::string("sharpen"));
  frames(2);
  click("graph/correlate/kernel/fill");
  click("graph/correlate/kernel/fill/sharpen");
  EXPECT_EQ(value("correlate", "compose"), ParamValue(std::string()));
  EXPECT_EQ(std::get<Matrix>(value("correlate", "kernel")).values[4], 5);
  // A composition that uses `kernel` is kept.
  test::set_value(model, "correlate", "compose", std::string("kernel, sharpen"));
  frames(2);
  click("graph/correlate/kernel/fill");
  click("graph/correlate/kernel/fill/identity");
  EXPECT_EQ(value("correlate", "compose"), ParamValue(std::string("kernel, sharpen")));
}

TEST_F(GraphPanel, ATypedTextIsForgottenWhenItsFieldIsHidden) {
  add_filter("correlate");
  frames(4);
  click("graph/correlate/compose"), frames(2);
  type("sharpen");
  EXPECT_EQ(viewer.state().text_edit.text, "sharpen");
  ImGui::GetIO().DisplaySize = {500, 1000};
  frames(3);
  EXPECT_EQ(viewer.state().text_edit.id, 0u) << "the field would show the text again";
  EXPECT_EQ(value("correlate", "compose"), ParamValue(std::string()));
}

TEST_F(GraphPanel, TheSecondInputIsChosenAmongTheNodesAbove) {
  add_filter("mix");
  EXPECT_EQ(model.graph.find("mix")->inputs, (std::vector<std::string>{"convolve", "source"}));
  click("graph/mix/input2");
  EXPECT_FALSE(there("graph/mix/input2/mix"));
  click("graph/mix/input2/median");
  EXPECT_EQ(model.graph.find("mix")->inputs[1], "median");
}

TEST_F(GraphPanel, UnusedNodesAreMarked) {
  EXPECT_FALSE(there("graph/edges/unused"));
  for (NodeView& node : model.nodes)
    if (node.id == "edges") node.format.clear();  // an unused node has no format
  frames(2);
  EXPECT_TRUE(there("graph/edges/unused"));
  EXPECT_FALSE(there("graph/median/unused"));
  click("graph/edges/enabled"), frames(2);
  EXPECT_FALSE(there("graph/edges/unused")) << "off says enough";
}

TEST_F(GraphPanel, AllNodesFoldAtOnce) {
  ASSERT_TRUE(there("graph/median/radius"));
  ASSERT_TRUE(there("graph/edges/low"));
  point_at("graph/median/title");
  click("graph/median/more");
  click("graph/median/menu/fold_all");
  frames(2);
  EXPECT_FALSE(there("graph/median/radius"));
  EXPECT_FALSE(there("graph/edges/low"));
  EXPECT_TRUE(there("graph/edges/title"));
  point_at("graph/edges/title");
  click("graph/edges/more");
  click("graph/edges/menu/unfold_all");
  frames(2);
  EXPECT_TRUE(there("graph/median/radius"));
  EXPECT_TRUE(there("graph/edges/low"));
}

TEST_F(GraphPanel, ATallNodeIsScrolledToItsName) {
  ImGui::GetIO().DisplaySize = {1280, 330};
  frames(3);
  add_filter("correlate");
  frames(4);
  const Rect title = rect("graph/correlate/title");
  EXPECT_GT(title.y, rect("presets/menu").y);
  EXPECT_LT(title.y + title.h, rect("graph/add").y);
}

TEST_F(GraphPanel, LongGraphsScrollAndKeepTheAddButtonVisible) {
  for (int i = 0; i < 12; ++i) {
    viewer.state().graph.selected = "median";
    press({.character = 'd', .ctrl = true});
  }
  frames(4);
  EXPECT_GE(model.graph.nodes.size(), 15u);
  const Rect add = rect("graph/add");
  EXPECT_LT(add.y + add.h, rect("transport/pause").y);
}

TEST_F(GraphPanel, TheFilterListStaysInAWindowThatBecomesLower) {
  press({.character = '+'});
  frames(3);
  ASSERT_GT(popup().y + popup().h, 500);
  ImGui::GetIO().DisplaySize = {1280, 500};
  frames(4);
  EXPECT_GE(popup().y, 0);
  EXPECT_LE(popup().y + popup().h, 500);
}

}  // namespace
}  // namespace lensd::ui
