// The graph that the user edits. Edits are shown at once, sent to the pipeline, and then compared with
// the pipeline's graph.
//
//   panels, keys ── edits ──▶ GraphEditor ── SetParam, SetGraph, … + EditMark ──▶ pipeline
//                                  ▲                                                │
//                                  └── follow(): running graph, newest EditMark ◀───┘
//
// To avoid flicker, the panel shows the edited graph until the pipeline has applied the last EditMark. From
// then on it shows the running graph: a refused edit is reverted, and a change by another client becomes an
// undo step. Call from the UI thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/edit_history.hpp"
#include "core/pipeline/command.hpp"
#include "ui/model/model.hpp"

namespace lensd::ui {

/// The graph and a NodeView of each node, in order, without formats and statistics. Immutable, so that a
/// panel can draw a whole frame with it while edits replace the editor's graph.
struct ShownGraph {
  GraphDesc graph;
  std::vector<NodeView> nodes;
};

class GraphEditor {
 public:
  /// Compares the edited graph with the running one. Call first in every display frame. A change of
  /// `mouse_down`, or a pause between edits, ends the undo step.
  void follow(const ViewerModel& model, bool mouse_down, int64_t time_ns);
  /// Appends the commands of the edits to `out`. Call last in every display frame.
  void take_commands(std::vector<Command>& out);

  const GraphDesc& graph() const { return history_.present(); }
  std::shared_ptr<const ShownGraph> shown() const { return shown_; }
  const Registry* registry() const { return registry_; }
  /// Returns a number that increases with every change of the graph.
  uint64_t revision() const { return revision_; }

  void set_param(const std::string& id, const ParamSpec& spec, ParamValue value);
  /// Sets several parameters as one undo step. The step is named after `group`, or after the first parameter
  /// if `group` is null. Consecutive calls with the same name are one step.
  void set_params(const std::string& id, std::vector<std::pair<const ParamSpec*, ParamValue>> values,
                  const char* group = nullptr);
  /// Lets the next change of the same parameter join the step of the last mouse click, unless the graph has
  /// changed since. Use it for a double click, because its first click has moved the slider.
  void join_click();
  void reset_params(const std::string& id);
  void set_enabled(const std::string& id, bool enabled);
  /// Adds a node below node `after`. Returns the new node's id, or an empty string if the edit failed.
  std::string add(const std::string& filter, const std::string& after);
  void remove(const std::string& id);
  std::string duplicate(const std::string& id);
  void move(const std::string& id, size_t to);
  /// Renames a node. Returns false and adds a message if the name is not allowed.
  bool rename(const std::string& id, const std::string& name);
  /// Sets input `n` of a node. An empty `input` removes input `n` and all later inputs.
  void set_input(const std::string& id, size_t n, const std::string& input);
  void set_output(const std::string& id);
  /// Sets parameter `param` of node `id` to the next of `values`. If there is no such node, adds a node of
  /// `filter` with this id and the first value at the graph's output. Removes the node if its value is the
  /// last of `values` or not among them.
  void cycle_at_output(const std::string& filter, const std::string& id, const std::string& param,
                       const std::vector<std::string>& values);
  /// Replaces the whole graph as one undo step. Returns false and adds a message if the graph is invalid.
  /// `preset` as in GraphHistory::record(). With `slot`, the step also switches to that slot. Without `slot`,
  /// an equivalent graph adds no step; only the preset changes.
  bool replace(GraphDesc graph, const std::string& what, int preset, std::optional<size_t> slot = {});

  void undo();
  void redo();
  const GraphHistory& history() const { return history_; }
  int preset() const { return history_.preset(); }
  void set_preset(int preset) { history_.set_preset(preset); }

  /// Shows the output of a node instead of the graph's output. A second call for the same node shows the
  /// graph's output again. Not an undo step.
  void toggle_solo(const std::string& id);
  const std::string& solo() const { return solo_; }

  /// Returns the old and new names of the nodes that were renamed since the last call, also by undo, redo,
  /// another client or a refusal.
  std::vector<std::pair<std::string, std::string>> take_renames() { return std::exchange(renames_, {}); }
  /// Returns the name of a node before the newest rename, or an empty string if that was for another node.
  /// Until the renamed graph runs, frames have the node's picture under that name. Returns an empty string if
  /// another node has it now.
  std::string former_name(const std::string& id) const;
  /// Returns the messages for the user since the last call; true marks a problem.
  std::vector<std::pair<bool, std::string>> take_messages() { return std::exchange(messages_, {}); }

 private:
  bool apply(GraphDesc next, std::string what, std::string key = {});
  void changed();
  void follow_rename(const GraphDesc& before);
  void end_step();
  void send_changes(const GraphDesc& from, const GraphDesc& to);
  void take_over(const GraphDesc& running);
  void step(std::string (GraphHistory::*operation)(), const char* verb, const char* done);
  void notify(bool problem, std::string text) { messages_.emplace_back(problem, std::move(text)); }

  GraphHistory history_;
  std::shared_ptr<const ShownGraph> shown_ = std::make_shared<ShownGraph>();
  const Registry* registry_ = nullptr;
  std::vector<Command> pending_;
  std::vector<std::pair<bool, std::string>> messages_;
  std::vector<std::pair<std::string, std::string>> renames_;
  std::pair<std::string, std::string> last_rename_;  // old and new name
  std::string solo_;
  uint64_t revision_ = 0;
  uint64_t pipeline_ = 0;  // ViewerModel::pipeline of the last follow(); 0: none yet
  uint64_t mark_ = 0, seen_mark_ = 0, seen_version_ = 0;
  bool unsettled_ = false;  // the pipeline has not applied all edits yet
  bool mouse_down_ = false;
  std::string click_key_;        // key of the step of the last mouse click; empty: none
  uint64_t click_revision_ = 0;  // revision_ after that click
  int64_t time_ns_ = 0, edited_ns_ = 0;
};

}  // namespace lensd::ui
