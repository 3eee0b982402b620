// Names of nodes in the graph panel, and the keys while a field is open.
#include <gtest/gtest.h>

#include "tests/unit/ui/graph_panel_driver.hpp"

namespace lensd::ui {
namespace {

TEST_F(GraphPanel, ADoubleClickRenames) {
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  frame();
  ASSERT_TRUE(there("graph/edges/name"));
  type("lines");  // replaces the old name, which is selected
  press({.key = Key::enter});
  EXPECT_EQ(order(), "median lines convolve ");
  EXPECT_EQ(model.graph.find("convolve")->inputs.front(), "lines");
}

TEST_F(GraphPanel, ARenamedNodeStaysFoldedOrOpen) {
  const auto rename = [&](const std::string& id, const std::string& name) {
    point_at("graph/" + id + "/title", 0.2f);
    for (const bool down : {true, false, true, false}) button(down), frame();
    frame();
    type(name.c_str());
    press({.key = Key::enter});
    frames(2);
  };
  click("graph/edges/fold");
  ASSERT_FALSE(there("graph/edges/low"));
  rename("edges", "lines");
  EXPECT_TRUE(there("graph/lines/fold"));
  EXPECT_FALSE(there("graph/lines/low"));
  click("graph/lines/fold");
  EXPECT_TRUE(there("graph/lines/low"));
  rename("lines", "edges");
  EXPECT_TRUE(there("graph/edges/low"));
}

/// Between the click and the focus of the field lie some frames, which a slow renderer draws for a second.
TEST_F(GraphPanel, KeysDoNothingElseWhileAFieldOpens) {
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true}) button(down), frame();
  PanelDriver::press({.character = 'q'});
  EXPECT_FALSE(viewer.requests().quit);
  button(false), frame();
  PanelDriver::press({.key = Key::escape}), frames(3);
  EXPECT_FALSE(there("graph/edges/name"));
  set_ctrl(true), point_at("graph/edges/low"), button(true), frame();
  EXPECT_TRUE(PanelDriver::press({.character = '2'}).empty());
  button(false), set_ctrl(false), frame();
  EXPECT_TRUE(model.graph.find("edges")->enabled);
  PanelDriver::press({.key = Key::escape}), frames(3);
  PanelDriver::press({.character = 'q'});
  EXPECT_TRUE(viewer.requests().quit) << "keys work again";
}

TEST_F(GraphPanel, EscapeEndsAFieldBeforeItHasTheFocus) {
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true}) button(down), frame();
  PanelDriver::press({.key = Key::escape});
  EXPECT_TRUE(viewer.state().graph.renamed.empty());
  EXPECT_FALSE(viewer.requests().leave_fullscreen);
  button(false), frames(2);
  EXPECT_EQ(order(), "median edges convolve ");
}

/// For example because the window became narrow, or a client removed the node.
TEST_F(GraphPanel, KeysWorkAgainWhenAnOpenFieldOrListIsGone) {
  const auto keys_work = [&] {
    const Commands& sent = PanelDriver::press({.character = ' '});
    return only<Pause>(sent) != nullptr;
  };
  const auto narrow_and_back = [&] {
    ImGui::GetIO().DisplaySize = {500, 1000};
    frames(2);
    EXPECT_FALSE(viewer.state().left_room);
    EXPECT_TRUE(keys_work());
    ImGui::GetIO().DisplaySize = {1280, 1000};
    frames(4);
    EXPECT_TRUE(keys_work());
  };
  press({.character = '+'});
  EXPECT_TRUE(there("add/search"));
  EXPECT_FALSE(keys_work());
  narrow_and_back();
  press({.character = 's', .ctrl = true, .shift = true}), frames(2);
  EXPECT_FALSE(keys_work());
  narrow_and_back();
  set_ctrl(true), click("graph/edges/low"), set_ctrl(false), frames(2);
  EXPECT_FALSE(keys_work());
  narrow_and_back();
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  EXPECT_FALSE(keys_work());
  narrow_and_back();
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  viewer.state().editor.remove("edges"), frames(3);
  EXPECT_TRUE(keys_work());
}

TEST_F(GraphPanel, ARejectedNameStaysInItsField) {
  point_at("graph/edges/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  frame();
  type("my lines");
  press({.key = Key::enter});
  frames(2);
  EXPECT_EQ(messages.size(), 1u) << "reported once";
  ASSERT_TRUE(there("graph/edges/name"));
  EXPECT_EQ(viewer.state().graph.new_name, "my lines");
  type("lines");
  press({.key = Key::enter});
  EXPECT_EQ(order(), "median lines convolve ");
  EXPECT_EQ(viewer.state().graph.selected, "lines");
  frames(2);
  // A click elsewhere cancels renaming. The node stays selected.
  point_at("graph/lines/title", 0.2f);
  for (const bool down : {true, false, true, false}) button(down), frame();
  frame();
  type("a b");
  point(700, 900);
  button(true), frame(), button(false), frames(2);
  EXPECT_FALSE(there("graph/lines/name"));
  EXPECT_EQ(viewer.state().graph.selected, "lines");
}

TEST_F(GraphPanel, ListsShowAllOfANameWithTwoHashes) {
  ASSERT_TRUE(viewer.state().editor.rename("median", "a##b"));
  model.nodes.front().id = "a##b";  // as the pipeline's plan
  viewer.state().compare = {.mode = CompareMode::split, .a = "a##b"};
  frames(3);
  EXPECT_TRUE(drawn("a# #b")) << "the chosen node";
  viewer.state().compare.a = kSourceNode;
  click("compare/A"), frames(2);
  EXPECT_TRUE(drawn("a# #b")) << "in the list";
}

}  // namespace
}  // namespace lensd::ui
