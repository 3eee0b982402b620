// Undo and redo of graph editing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/ui/edited_graphs.hpp"
#include "ui/model/graph_editor.hpp"

namespace lensd::ui {
namespace {

TEST(GraphHistory, StepsBackAndForthAndForgetsTheOldest) {
  GraphHistory history;
  history.reset(chain(), -1);
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.undo(), "");
  for (size_t i = 0; i < GraphHistory::kMaxSteps + 50; ++i)
    history.record(graph_of({node(fmt::format("n{}", i))}), fmt::format("step {}", i), {},
                   static_cast<int>(i));
  EXPECT_EQ(history.steps(), GraphHistory::kMaxSteps);
  EXPECT_EQ(history.undo(), "step 249");
  EXPECT_EQ(history.present().output, "n248");
  EXPECT_EQ(history.preset(), 248);
  EXPECT_EQ(history.redo_name(), "step 249");
  EXPECT_EQ(history.redo(), "step 249");
  EXPECT_FALSE(history.can_redo());
  while (history.can_undo()) history.undo();
  EXPECT_EQ(history.present().output, "n49");
}

TEST(GraphHistory, ADragIsOneStepAndANewChangeEndsRedo) {
  GraphHistory history;
  history.reset(chain(), -1);
  for (const char* id : {"x", "y", "z"}) history.record(graph_of({node(id)}), id, "a.radius", -1);
  EXPECT_EQ(history.steps(), 1u);
  EXPECT_EQ(history.present().output, "z");
  history.seal();
  history.record(graph_of({node("later")}), "later", "a.radius", -1);
  EXPECT_EQ(history.steps(), 2u);
  history.undo(), history.undo();
  EXPECT_EQ(shape(history.present()), shape(chain()));
  history.record(graph_of({node("other")}), "other", {}, -1);
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(history.steps(), 1u);
  history.drop();  // the change was rejected
  EXPECT_FALSE(history.can_undo());
  history.redo(), history.redo();
  EXPECT_EQ(history.present().output, "later") << "what was undone before is there again";
  EXPECT_FALSE(history.can_redo());
}

}  // namespace
}  // namespace lensd::ui
