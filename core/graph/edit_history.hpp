// Undo and redo: whole graphs, newest last, each with the name of the change that led to it.
//
//   record(after, "median radius 3") ──▶ [ … before │ present ]      undo() and redo() move the position │
//
// Steps have no NodeDesc::where, because lines of a file do not describe edited graphs. A drag is one step:
// until seal(), consecutive changes with the same key form one step. Not thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"

namespace lensd {

class GraphHistory {
 public:
  static constexpr size_t kMaxSteps = 200;

  /// Clears the history, but keeps slot(). `graph` becomes the present graph. `preset`: see record().
  void reset(GraphDesc graph, int preset);

  /// Adds a step that leads to `after`. Replaces the last step instead if `key` is not empty and equals that
  /// step's key, and seal() was not called in between. `preset` is the caller's number for the graph's
  /// preset. The new step has the same slot() as the present one.
  void record(GraphDesc after, std::string what, std::string key, int preset);
  /// Makes the next record() add a new step, whatever its key.
  void seal() { key_.clear(); }
  /// Undoes seal(): the next record() with this key joins the present step.
  void unseal(std::string key) { key_ = std::move(key); }
  /// Returns the key of the present step if record() may still join it; otherwise an empty string.
  const std::string& key() const { return key_; }
  /// Replaces the present graph after a part of the last change was refused.
  void amend(GraphDesc graph);
  /// Removes the present step. Call if its change was refused. Restores the steps that the last record() had
  /// removed from redo().
  void drop();

  const GraphDesc& present() const { return steps_[now_].graph; }
  /// Returns the graph before the present one; null if there is none.
  const GraphDesc* before() const { return now_ > 0 ? &steps_[now_ - 1].graph : nullptr; }
  int preset() const { return steps_[now_].preset; }
  void set_preset(int preset) { steps_[now_].preset = preset; }
  /// Returns the caller's number for the slot that the present graph belongs to, 0 at first.
  size_t slot() const { return steps_[now_].slot; }
  void set_slot(size_t slot) { steps_[now_].slot = slot; }

  bool can_undo() const { return now_ > 0; }
  bool can_redo() const { return now_ + 1 < steps_.size(); }
  /// Returns the name of the step that undo() would revert. Call only if can_undo().
  const std::string& undo_name() const { return steps_[now_].what; }
  /// Returns the name of the step that redo() would apply. Call only if can_redo().
  const std::string& redo_name() const { return steps_[now_ + 1].what; }
  /// Reverts the last step. Returns its name, or an empty string if there is none.
  std::string undo();
  /// Applies the next step again. Returns its name, or an empty string if there is none.
  std::string redo();

  size_t steps() const { return steps_.size() - 1; }

 private:
  struct Step {
    GraphDesc graph;
    std::string what;
    int preset = -1;
    size_t slot = 0;
  };
  std::vector<Step> steps_{1}, undone_;  // undone_: steps that the last record() removed from redo()
  size_t now_ = 0;
  std::string key_;
};

}  // namespace lensd
