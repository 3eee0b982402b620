// Graph editing: topology, and synchronisation with the pipeline.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/edit_shape.hpp"
#include "tests/unit/ui/edited_graphs.hpp"
#include "ui/model/graph_editor.hpp"

namespace lensd::ui {
namespace {

TEST(GraphEdit, AddsBelowANodeAndOnTop) {
  GraphDesc graph = chain();
  EXPECT_EQ(add_node(graph, *filters().find("median"), "b"), "median");
  EXPECT_EQ(shape(graph), "a(source) b(a) median(b) c(median) > c");
  EXPECT_EQ(add_node(graph, *filters().find("median"), "c"), "median2");
  EXPECT_EQ(graph.output, "median2");
  EXPECT_EQ(add_node(graph, *filters().find("median"), kSourceNode), "median3");
  EXPECT_EQ(graph.nodes.front().id, "median3");
  EXPECT_EQ(graph.find("a")->inputs.front(), "median3");
  GraphDesc empty = graph_of({});
  EXPECT_EQ(add_node(empty, *filters().find("mix"), empty.output), "mix");
  EXPECT_EQ(shape(empty), "mix(source,source) > mix");
}

TEST(GraphEdit, BothBranchesReadWhatIsAddedBelowTheirRoot) {
  GraphDesc graph = diamond();
  add_node(graph, *filters().find("median"), "a");
  EXPECT_EQ(shape(graph), "a(source) median(a) b(median) c(median) d(b,c) > d");
  EXPECT_TRUE(validate(graph, filters()).empty());
}

TEST(GraphEdit, RemovingJoinsTheNeighbours) {
  GraphDesc graph = chain();
  remove_node(graph, "b");
  EXPECT_EQ(shape(graph), "a(source) c(a) > c");
  remove_node(graph, "c");
  EXPECT_EQ(shape(graph), "a(source) > a");
  remove_node(graph, "a");
  EXPECT_EQ(shape(graph), "> source");
  graph = diamond();
  remove_node(graph, "d");
  EXPECT_EQ(shape(graph), "a(source) b(a) c(a) > b");
}

TEST(GraphEdit, ACopyFollowsItsOriginal) {
  GraphDesc graph = chain();
  graph.find("b")->params.emplace_back("radius", int64_t{7});
  EXPECT_EQ(duplicate_node(graph, "b"), "b2");
  EXPECT_EQ(shape(graph), "a(source) b(a) b2(b) c(b2) > c");
  EXPECT_EQ(graph.find("b2")->params, graph.find("b")->params);
  EXPECT_EQ(duplicate_node(graph, "b2"), "b3");
}

TEST(GraphEdit, AChainReordersInEveryWay) {
  const std::vector<std::string> ids{"a", "b", "c"};
  for (size_t from = 0; from < 3; ++from)
    for (size_t to = 0; to < 3; ++to) {
      GraphDesc graph = chain();
      EXPECT_FALSE(move_node(graph, ids[from], to));
      std::vector<std::string> order = ids;
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), ids[from]);
      std::string wanted, above = "source";
      for (const std::string& id : order) wanted += id + "(" + above + ") ", above = id;
      EXPECT_EQ(shape(graph), wanted + "> " + above);
    }
}

TEST(GraphEdit, MovesInABranchedGraphKeepItValid) {
  GraphDesc graph = diamond();
  EXPECT_FALSE(move_node(graph, "b", 2));  // from one branch to the other
  EXPECT_EQ(shape(graph), "a(source) c(a) b(c) d(a,b) > d");
  graph = diamond();
  const auto refusal = move_node(graph, "d", 1);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal, "d cannot move above c, which it reads");
  EXPECT_EQ(shape(graph), shape(diamond())) << "untouched";
  // Every possible move gives a valid graph, or is rejected without a change.
  for (const char* id : {"a", "b", "c", "d"})
    for (size_t to = 0; to < 4; ++to) {
      GraphDesc moved = diamond();
      const bool refused = move_node(moved, id, to).has_value();
      EXPECT_TRUE(validate(moved, filters()).empty()) << id << " to " << to;
      if (refused) {
        EXPECT_EQ(shape(moved), shape(diamond()));
      }
      for (const NodeDesc& n : moved.nodes) {
        const auto above = possible_inputs(moved, n.id);
        for (const std::string& input : n.inputs)
          EXPECT_NE(std::find(above.begin(), above.end(), input), above.end())
              << n.id << " reads below itself";
      }
    }
}

TEST(GraphEdit, RenamesWithReadersAndRefusesWhatCannotBeNamed) {
  GraphDesc graph = diamond();
  EXPECT_FALSE(rename_node(graph, "c", "soft"));
  EXPECT_EQ(shape(graph), "a(source) b(a) soft(a) d(b,soft) > d");
  EXPECT_FALSE(rename_node(graph, "d", "out"));
  EXPECT_EQ(graph.output, "out");
  for (const char* name : {"", "source", "a", "x y", "x.y", "x,y"})
    EXPECT_TRUE(rename_node(graph, "b", name)) << name;
  EXPECT_NE(rename_node(graph, "b", "my tracker")->find("my_tracker"), std::string::npos);
}

/// An editor with a simulated pipeline.
class Editing : public ::testing::Test {
 protected:
  void SetUp() override {
    model.graph = chain();
    frame();
  }
  /// Runs one display frame; returns the commands since the previous one.
  std::vector<Command> frame(bool mouse = false) {
    editor.follow(model, mouse, time_ns += 16'000'000);
    std::vector<Command> out;
    editor.take_commands(out);
    return out;
  }
  int64_t radius(const char* id) const {
    return std::get<int64_t>(value_of(*editor.graph().find(id), spec()));
  }
  const ParamSpec& spec() const { return *filters().find("median")->schema().find("radius"); }
  /// Simulates that the pipeline has processed the commands `sent` and runs `graph`.
  void pipeline_runs(const GraphDesc& graph, const std::vector<Command>& sent) {
    if (!equivalent(model.graph, graph, filters())) model.graph = graph, ++model.graph_version;
    model.graph_mark = std::get<EditMark>(sent.back()).mark;
  }

  GraphEditor editor;
  ViewerModel model = test::sample_model();
  int64_t time_ns = 0;
};

TEST_F(Editing, ShowsAnEditAtOnceWhileThePipelineCatchesUp) {
  editor.set_param("b", spec(), int64_t{9});
  EXPECT_EQ(radius("b"), 9);
  auto sent = frame();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(std::get<SetParam>(sent[0]).node, "b");
  editor.set_param("b", spec(), int64_t{12});
  auto sent_later = frame();
  // The pipeline reports only the first change: the value does not jump back to 9.
  GraphDesc first = chain();
  first.find("b")->params = {{"radius", int64_t{9}}};
  pipeline_runs(first, sent);
  frame();
  EXPECT_EQ(radius("b"), 12);
  first.find("b")->params = {{"radius", int64_t{12}}};
  pipeline_runs(first, sent_later);
  frame();
  EXPECT_EQ(radius("b"), 12);
}

TEST_F(Editing, ARejectedEditIsRevertedWithoutAnUndoStep) {
  editor.add("median", "c");
  const auto sent = frame();
  EXPECT_EQ(editor.graph().nodes.size(), 4u);
  model.graph_planning = true;
  pipeline_runs(chain(), sent);
  frame();
  EXPECT_EQ(editor.graph().nodes.size(), 4u) << "the plan is still being made";
  model.graph_planning = false;
  frame();
  EXPECT_EQ(shape(editor.graph()), shape(chain()));
  EXPECT_FALSE(editor.history().can_undo());
}

TEST_F(Editing, AnExternalChangeIsAdoptedAndCanBeUndone) {
  GraphDesc other = chain();
  other.find("a")->enabled = false;
  model.graph = other, ++model.graph_version;
  EXPECT_TRUE(frame().empty());
  EXPECT_FALSE(editor.graph().find("a")->enabled);
  editor.undo();
  const auto sent = frame();
  EXPECT_TRUE(std::get<SetEnabled>(sent[0]).enabled);
}

TEST_F(Editing, UndoAndRedoSendTheSmallestChange) {
  editor.set_param("b", spec(), int64_t{9});
  frame();
  editor.move("a", 2);
  EXPECT_TRUE(std::holds_alternative<SetGraph>(frame()[0]));
  editor.undo();
  EXPECT_TRUE(std::holds_alternative<SetGraph>(frame()[0]));
  editor.undo();
  const auto back = frame();
  EXPECT_EQ(std::get<SetParam>(back[0]).value, ParamValue(int64_t{1}));
  editor.redo();
  EXPECT_EQ(std::get<SetParam>(frame()[0]).value, ParamValue(int64_t{9}));
  const auto messages = editor.take_messages();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].second, "Undone: move a");
  EXPECT_EQ(messages[1].second, "Undone: b radius 9 px");
  EXPECT_EQ(messages[2].second, "Redone: b radius 9 px");
}

TEST_F(Editing, ADragIsOneStepAndTheNextDragAnother) {
  for (const int64_t from : {2, 8}) {
    frame(true);
    for (int64_t r = from; r < from + 6; ++r) editor.set_param("b", spec(), r), frame(true);
    frame(false);
  }
  EXPECT_EQ(editor.history().steps(), 2u);
  editor.undo();
  EXPECT_EQ(radius("b"), 7);
  editor.undo();
  EXPECT_EQ(radius("b"), 1);
}

TEST_F(Editing, ADragBackToItsStartIsNoStep) {
  frame(true);
  for (const int64_t r : {2, 5, 1, 4}) editor.set_param("b", spec(), r), frame(true);
  frame(false);
  EXPECT_EQ(editor.history().steps(), 1u) << "passing the start does not end the drag";
  editor.undo();
  EXPECT_EQ(radius("b"), 1);
  frame(true);
  for (const int64_t r : {3, 1}) editor.set_param("b", spec(), r), frame(true);
  frame(false);
  EXPECT_EQ(radius("b"), 1);
  EXPECT_FALSE(editor.history().can_undo());
  EXPECT_TRUE(editor.history().can_redo()) << "the step before is offered again";
  for (const int64_t r : {3, 1}) editor.set_param("b", spec(), r), frame();
  editor.undo();  // before the pause that ends a step
  EXPECT_EQ(radius("b"), 1);
  EXPECT_FALSE(editor.history().can_undo());
}

TEST_F(Editing, AChangeJoinsTheLastClickOnlyIfNothingElseWasChanged) {
  const auto click = [&](int64_t r) {
    frame(true);
    editor.set_param("b", spec(), r), frame(true);
    frame(false);
  };
  click(5);
  frame(true);
  editor.join_click(), editor.set_param("b", spec(), int64_t{2});
  frame(false);
  EXPECT_EQ(editor.history().steps(), 1u);
  editor.set_enabled("a", false), frame();
  editor.join_click(), editor.set_param("b", spec(), int64_t{3}), frame();
  EXPECT_EQ(editor.history().steps(), 3u);
  frame(true), frame(false);  // a click that changes nothing
  editor.join_click(), editor.set_param("b", spec(), int64_t{4}), frame();
  EXPECT_EQ(editor.history().steps(), 4u);
}

TEST_F(Editing, APresetThatIsSavedWithinADragBackIsKept) {
  for (const int64_t r : {3, 1}) editor.set_param("b", spec(), r), frame();
  editor.set_preset(2);
  editor.redo();  // ends the step
  EXPECT_FALSE(editor.history().can_undo());
  EXPECT_EQ(editor.preset(), 2);
}

TEST_F(Editing, SeveralValuesAreSentTogether) {
  GraphDesc next = chain();
  next.find("a")->params = {{"radius", int64_t{4}}};
  next.find("c")->enabled = false;
  EXPECT_TRUE(editor.replace(next, "load x", 3));
  const auto sent = frame();
  EXPECT_EQ(std::get<Batch>(sent[0]).changes.size(), 2u);
  EXPECT_EQ(editor.preset(), 3);
  editor.undo();
  EXPECT_EQ(editor.preset(), -1) << "undo restores the graph's preset";
}

TEST_F(Editing, SoloDoesNotChangeTheGraphAndEndsWithItsNode) {
  editor.toggle_solo("b");
  EXPECT_EQ(std::get<Solo>(frame()[0]).node, "b");
  EXPECT_FALSE(editor.history().can_undo());
  editor.remove("b");
  const auto sent = frame();
  EXPECT_TRUE(editor.solo().empty());
  EXPECT_TRUE(std::any_of(sent.begin(), sent.end(), [](const Command& c) {
    const auto* solo = std::get_if<Solo>(&c);
    return solo && solo->node.empty();
  }));
}

TEST_F(Editing, ARenameIsReportedAndKeepsTheSolo) {
  using Renames = std::vector<std::pair<std::string, std::string>>;
  editor.toggle_solo("b");
  frame();
  EXPECT_TRUE(editor.rename("b", "blur"));
  EXPECT_EQ(editor.take_renames(), (Renames{{"b", "blur"}}));
  EXPECT_EQ(editor.solo(), "blur");
  const auto sent = frame();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(std::get<SetGraph>(sent[0]).graph.find("c")->inputs.front(), "blur");
  EXPECT_EQ(std::get<Solo>(sent[1]).node, "blur");
  editor.undo();
  EXPECT_EQ(editor.take_renames(), (Renames{{"blur", "b"}}));
  EXPECT_EQ(editor.solo(), "b");
  editor.move("a", 2), editor.add("median", "a"), editor.set_enabled("c", false);
  EXPECT_TRUE(editor.take_renames().empty());
  EXPECT_FALSE(editor.rename("b", "c"));
  EXPECT_TRUE(editor.take_renames().empty());
}

TEST_F(Editing, ANewSourceKeepsTheGraphAndSolo) {
  editor.toggle_solo("a");
  frame();
  editor.set_param("b", spec(), int64_t{9});
  frame();
  model.graph = model.opened_with = editor.graph();
  model.pipeline = 2, model.graph_mark = 0, model.graph_version = 1;
  const auto sent = frame();
  EXPECT_EQ(radius("b"), 9);
  EXPECT_EQ(std::get<Solo>(sent[0]).node, "a");
  EXPECT_EQ(editor.history().steps(), 1u);
}

TEST_F(Editing, EditsMadeWhileASourceOpensReachIt) {
  const GraphDesc requested = editor.graph();
  editor.set_param("b", spec(), int64_t{9});
  frame();
  model.graph = model.opened_with = requested;
  model.pipeline = 2, model.graph_mark = 0, model.graph_version = 1;
  const auto sent = frame();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(equivalent(std::get<SetGraph>(sent[0]).graph, editor.graph(), filters()));
  pipeline_runs(editor.graph(), sent);
  frame();
  EXPECT_EQ(radius("b"), 9);
  EXPECT_EQ(editor.history().steps(), 1u) << "the new source adds no undo step";
}

TEST_F(Editing, ChangesOfOthersInANewSourceAreKept) {
  model.opened_with = editor.graph();
  GraphDesc other = chain();
  other.find("a")->enabled = false;
  model.graph = other, model.pipeline = 2, model.graph_mark = 0, model.graph_version = 2;
  EXPECT_TRUE(frame().empty()) << "the editor's graph was not edited";
  EXPECT_FALSE(editor.graph().find("a")->enabled);
}

TEST_F(Editing, ImpossibleGraphsAreRefusedWithAReason) {
  editor.set_input("a", 0, "c");
  EXPECT_TRUE(frame().empty());
  const auto messages = editor.take_messages();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].first);
  EXPECT_NE(messages[0].second.find("cycle"), std::string::npos);
}

}  // namespace
}  // namespace lensd::ui
