// Undo and redo: whole graphs, newest last, with what led to each.
//
//   record(after, "median radius 3") ──▶ [ … before │ after ] ◀── undo(), redo() move the mark │
//
// A drag is one step: changes with the same key are one until seal(). Graphs are small, so values are kept
// instead of differences. UI thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace lensd::ui {

class GraphHistory {
 public:
  static constexpr size_t kMostSteps = 200;

  /// Begins anew: nothing to undo.
  void reset(GraphDesc graph, int preset);

  /// A change made `after` of the present. With the key of the change before it, and no seal() between, both
  /// are one step. `preset` is the caller's number of the preset that the graph belongs to.
  void record(GraphDesc after, std::string what, std::string key, int preset);
  /// The next change is a step of its own.
  void seal() { key_.clear(); }
  /// The present is another graph than was recorded: a change was refused in part or whole.
  void amend(GraphDesc graph) { steps_[now_].graph = std::move(graph); }
  /// Forgets the last step, which came to nothing; what could be redone before it can be again.
  void drop();

  const GraphDesc& present() const { return steps_[now_].graph; }
  /// Null at the beginning.
  const GraphDesc* before() const { return now_ > 0 ? &steps_[now_ - 1].graph : nullptr; }
  int preset() const { return steps_[now_].preset; }
  void set_preset(int preset) { steps_[now_].preset = preset; }

  bool can_undo() const { return now_ > 0; }
  bool can_redo() const { return now_ + 1 < steps_.size(); }
  /// What undo() would take back and redo() bring back; only where they can.
  const std::string& undo_name() const { return steps_[now_].what; }
  const std::string& redo_name() const { return steps_[now_ + 1].what; }
  /// Moves the mark; the name of the step, or empty where there is none.
  std::string undo();
  std::string redo();

  size_t steps() const { return steps_.size() - 1; }

 private:
  struct Step {
    GraphDesc graph;
    std::string what;
    int preset = -1;
  };
  std::vector<Step> steps_{1}, undone_;  // undone_: what the last step took from redo()
  size_t now_ = 0;
  std::string key_;
};

}  // namespace lensd::ui
