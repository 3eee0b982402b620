// Nodes as text, slots for whole graphs, and which nodes are folded.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/model/node_text.hpp"

namespace lensd::ui {
namespace {

const Registry& all_filters() {
  return test::sample_registry();
}

TEST(NodeText, ANodeReadsBack) {
  const GraphDesc graph = resolved(
      parse_chain("median@soft=radius=3,canny@edges=low=70.5:l2=false", all_filters()), all_filters());
  const std::string text = node_text(graph, "edges", all_filters());
  EXPECT_NE(text.find("[[node]]"), std::string::npos) << text;
  EXPECT_EQ(node_text(graph, "missing", all_filters()), "");
  std::string first;
  const GraphDesc pasted = with_pasted(graph, text, "soft", all_filters(), first);
  ASSERT_EQ(pasted.nodes.size(), 3u);
  EXPECT_EQ(pasted.nodes[1].id, first);
  EXPECT_NE(first, "edges") << "the name is taken";
  EXPECT_EQ(pasted.nodes[1].inputs, std::vector<std::string>{"soft"});
  EXPECT_EQ(pasted.nodes[2].inputs, std::vector<std::string>{first});
  EXPECT_EQ(value_of(pasted.nodes[1], *all_filters().find("canny")->schema().find("low")), ParamValue(70.5));
  const GraphDesc alone = with_pasted({}, text, kSourceNode, all_filters(), first);
  ASSERT_EQ(alone.nodes.size(), 1u);
  EXPECT_EQ(alone.nodes[0].id, "edges") << "the name is kept where it is free";
}

TEST(NodeText, ChainsCanBePastedAndOtherTextIsRefused) {
  std::string first;
  const GraphDesc graph = with_pasted({}, "median=radius=2,canny", kSourceNode, all_filters(), first);
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(first, "median");
  EXPECT_EQ(graph.nodes[1].inputs, std::vector<std::string>{"median"});
  for (const char* text :
       {"", "hello world", "[[node]]\nfilter = \"nothing\"", "[[node]]\nfilter = 3", "https://a.b/c?d=e"})
    EXPECT_THROW(with_pasted({}, text, kSourceNode, all_filters(), first), Error) << text;
  EXPECT_THROW(with_pasted({}, std::string(1 << 20, 'a'), kSourceNode, all_filters(), first), Error);
}

TEST(NodeText, APastedGraphKeepsItsInputsAndOutput) {
  const GraphDesc graph = resolved(parse_chain("median@above,median@below", all_filters()), all_filters());
  const char* const text = R"(
[graph]
output = "mixed"
[[node]]
id = "soft"
filter = "median"
[[node]]
id = "edges"
filter = "canny"
input = "source"
[[node]]
id = "mixed"
filter = "mix"
inputs = ["soft", "edges"]
[[node]]
id = "unused"
filter = "median"
input = "soft"
)";
  std::string first;
  const GraphDesc pasted = with_pasted(graph, text, "above", all_filters(), first);
  const auto inputs = [&](const char* id) {
    const NodeDesc* node = pasted.find(id);
    return node ? node->inputs : std::vector<std::string>{"no such node"};
  };
  EXPECT_TRUE(validate(pasted, all_filters()).empty());
  EXPECT_EQ(first, "soft");
  EXPECT_EQ(inputs("soft"), std::vector<std::string>{"above"});
  EXPECT_EQ(inputs("edges"), std::vector<std::string>{"above"});
  EXPECT_EQ(inputs("mixed"), (std::vector<std::string>{"soft", "edges"}));
  EXPECT_EQ(inputs("unused"), std::vector<std::string>{"soft"});
  EXPECT_EQ(inputs("below"), std::vector<std::string>{"mixed"});
  EXPECT_EQ(pasted.output, "below");

  const GraphDesc twice = with_pasted(pasted, text, "below", all_filters(), first);
  EXPECT_TRUE(validate(twice, all_filters()).empty());
  const NodeDesc* const output = twice.find(twice.output);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->filter, "mix") << "the pasted output becomes the graph's";
  EXPECT_EQ(twice.find(output->inputs[0])->filter, "median");
  EXPECT_NE(output->inputs[0], "soft") << "the names are taken, so the pasted nodes have others";
}

class Tuning : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    ImGui::GetIO().DisplaySize = {1280, 1000};
    frames(3);
  }
  std::string order() {
    std::string text;
    for (const NodeDesc& node : viewer.state().editor.graph().nodes) text += node.id + " ";
    return text;
  }
  void ctrl(char32_t c) { press({.character = c, .ctrl = true}), frames(2); }
};

TEST_F(Tuning, KeysCopyAndPasteTheSelectedNode) {
  ctrl('c');
  EXPECT_EQ(order(), "median edges convolve ");
  click("graph/edges/title");
  ctrl('c');
  EXPECT_NE(std::string(ImGui::GetClipboardText()).find("canny"), std::string::npos);
  ctrl('v');
  EXPECT_EQ(order(), "median edges canny convolve ");
  EXPECT_EQ(viewer.state().graph.selected, "canny");
  ctrl('z');
  EXPECT_EQ(order(), "median edges convolve ");
  ImGui::SetClipboardText("nothing that fits");
  ctrl('v');
  EXPECT_EQ(order(), "median edges convolve ");
}

TEST_F(Tuning, WithoutTextInTheClipboardPastingSaysSo) {
  ASSERT_FALSE(ImGui::GetClipboardText());
  press({.character = 'v', .ctrl = true});
  ASSERT_EQ(viewer.requests().messages.size(), 1u);
  EXPECT_NE(viewer.requests().messages[0].second.find("contains no node"), std::string::npos);
}

TEST_F(Tuning, PastedNodesShowTheirParameters) {
  viewer.state().graph.folded = {"soft", "canny"};  // of an earlier run
  ImGui::SetClipboardText("median@soft,canny");
  ctrl('v');
  EXPECT_EQ(order(), "median edges convolve soft canny ");
  EXPECT_EQ(viewer.state().graph.selected, "soft");
  EXPECT_TRUE(viewer.state().graph.folded.empty());
}

TEST_F(Tuning, SlotsHoldWholeGraphs) {
  GraphEditor& editor = viewer.state().editor;
  ctrl('2');
  EXPECT_EQ(order(), "median edges convolve ") << "an unused slot begins as a copy";
  editor.remove("edges"), frames(2);
  click("slots/A"), frames(2);
  EXPECT_EQ(order(), "median edges convolve ");
  click("slots/B"), frames(2);
  EXPECT_EQ(order(), "median convolve ");
  ctrl('3');
  EXPECT_EQ(order(), "median convolve ");
  editor.remove("median"), frames(2);
  ctrl('1');
  EXPECT_EQ(order(), "median edges convolve ");
  ctrl('3');
  EXPECT_EQ(order(), "convolve ");
  EXPECT_EQ(editor.history().undo_name(), "graph C");
  ctrl('z');
  EXPECT_EQ(order(), "median edges convolve ") << "a switch is a step";
}

TEST_F(Tuning, UndoneSwitchesLeaveTheSlotsAlone) {
  GraphEditor& editor = viewer.state().editor;
  ctrl('2');
  editor.remove("edges"), frames(2);
  ctrl('1');
  ctrl('2');
  ctrl('z');
  EXPECT_EQ(order(), "median edges convolve ");
  EXPECT_EQ(editor.history().slot(), 0u) << "the slot is part of the step";
  ctrl('1');
  EXPECT_EQ(order(), "median edges convolve ");
  ctrl('2');
  EXPECT_EQ(order(), "median convolve ") << "the slot was overwritten";
  ctrl('z'), ctrl('y');
  EXPECT_EQ(order(), "median convolve ");
  EXPECT_EQ(editor.history().slot(), 1u);
}

TEST_F(Tuning, ACopyIsAStepAndTheSlotKeepsIt) {
  ctrl('2');
  ctrl('z');
  EXPECT_EQ(viewer.state().editor.history().slot(), 0u);
  viewer.state().editor.remove("median"), frames(2);
  ctrl('2');
  EXPECT_EQ(order(), "median edges convolve ");
}

TEST_F(Tuning, FoldsBelongToTheNode) {
  click("graph/edges/fold"), frames(2);
  EXPECT_FALSE(there("graph/edges/low"));
  EXPECT_TRUE(viewer.state().graph.folded.contains("edges"));
  viewer.state().graph.folded = {"median"};  // as restored at the next start
  frames(2);
  EXPECT_TRUE(there("graph/edges/low"));
  EXPECT_FALSE(there("graph/median/radius"));
  click("graph/median/fold"), frames(2);
  EXPECT_TRUE(there("graph/median/radius"));
}

TEST_F(Tuning, TheSelectedNodeIsResetByKey) {
  GraphEditor& editor = viewer.state().editor;
  editor.set_param("median", *all_filters().find("median")->schema().find("radius"), int64_t{7});
  frames(2);
  click("graph/median/title");
  ctrl('r');
  EXPECT_EQ(value_of(*editor.graph().find("median"), *all_filters().find("median")->schema().find("radius")),
            ParamValue(int64_t{1}));
}

}  // namespace
}  // namespace lensd::ui
