// Undo and redo: which changes form one step.

#include <gtest/gtest.h>

#include "core/graph/edit_history.hpp"

namespace lensd {
namespace {

/// Returns a graph that is identified by its number.
GraphDesc numbered(int n) {
  GraphDesc graph;
  graph.output = std::to_string(n);
  return graph;
}

class History : public testing::Test {
 protected:
  History() { history_.reset(numbered(0), -1); }
  void change(int n, const std::string& key = "median.radius") {
    history_.record(numbered(n), "change " + std::to_string(n), key, -1);
  }
  /// Undoes all steps. Returns the numbers of the graphs, from the present one back to the first.
  std::string way_back() {
    std::string text = history_.present().output;
    while (history_.can_undo()) history_.undo(), text += " " + history_.present().output;
    return text;
  }

  GraphHistory history_;
};

TEST_F(History, ChangesWithOneKeyAreOneStep) {
  change(1), change(2), change(3, "median.border"), change(4, "median.border");
  EXPECT_EQ(way_back(), "4 2 0");
}

TEST_F(History, ChangesWithoutAKeyAreStepsOfTheirOwn) {
  change(1, ""), change(2, "");
  EXPECT_EQ(way_back(), "2 1 0");
}

TEST_F(History, ASealSeparatesSteps) {
  change(1), history_.seal(), change(2);
  EXPECT_EQ(way_back(), "2 1 0");
}

TEST_F(History, TwoEditsAfterAnUndoStayTwoSteps) {
  change(1), history_.seal(), change(2);
  EXPECT_EQ(history_.undo(), "change 2");
  change(3);  // the same key as changes 1 and 2
  EXPECT_FALSE(history_.can_redo());
  change(4, "median.border");
  EXPECT_EQ(history_.steps(), 3u);
  EXPECT_EQ(way_back(), "4 3 1 0");
}

TEST_F(History, TwoEditsAfterARedoStayTwoSteps) {
  change(1), history_.seal(), change(2);
  history_.undo();
  EXPECT_EQ(history_.redo(), "change 2");
  change(3), history_.seal(), change(4);
  EXPECT_EQ(way_back(), "4 3 2 1 0");
}

TEST_F(History, AChangeAfterAnUndoClearsRedoAndItsRefusalRestoresIt) {
  change(1, ""), change(2, ""), change(3, "");
  history_.undo(), history_.undo();
  change(9, "");
  EXPECT_FALSE(history_.can_redo());
  EXPECT_EQ(history_.redo(), "");
  history_.drop();
  EXPECT_EQ(history_.present().output, "1");
  EXPECT_EQ(history_.redo_name(), "change 2");
  history_.redo(), history_.redo();
  EXPECT_EQ(way_back(), "3 2 1 0");
  EXPECT_EQ(history_.undo(), "");
}

TEST_F(History, TheOldestStepsAreForgotten) {
  constexpr auto most = static_cast<int>(GraphHistory::kMaxSteps);
  for (int i = 1; i <= most; ++i) change(i, "");
  EXPECT_EQ(history_.steps(), GraphHistory::kMaxSteps);
  change(most + 1, "");
  EXPECT_EQ(history_.steps(), GraphHistory::kMaxSteps);
  while (history_.can_undo()) history_.undo();
  EXPECT_EQ(history_.present().output, "1");
}

}  // namespace
}  // namespace lensd
