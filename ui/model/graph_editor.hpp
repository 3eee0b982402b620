// The graph as the user wants it: shown at once, sent to the pipeline, and held against what it comes to.
//
//   panels, keys ── edits ──▶ GraphEditor ── SetParam, SetEnabled, Batch, SetGraph, Solo + EditMark ──▶
//   pipeline
//                                  ▲                                                              │
//                                  └── follow(): graph as it runs, mark it has reached ◀──────────┘
//
// While edits are on their way the panel shows the wanted graph, so that nothing flickers. When the pipeline
// has worked off the last mark, its graph is the truth: a refused edit goes back, a change by others is taken
// over. UI thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/pipeline/command.hpp"
#include "ui/model/graph_history.hpp"
#include "ui/model/model.hpp"

namespace lensd::ui {

/// The graph and a view for each node, in order, without formats and statistics. Never changes: panels draw a
/// whole frame from one, whatever is edited meanwhile.
struct ShownGraph {
  GraphDesc graph;
  std::vector<NodeView> nodes;
};

class GraphEditor {
 public:
  /// First in every display frame. `mouse_down` and the time tell where a drag or a turn of the wheel ends.
  void follow(const ViewerModel& model, bool mouse_down, int64_t time_ns);
  /// Last in every display frame: appends what the edits ask of the pipeline.
  void take_commands(std::vector<Command>& out);

  const GraphDesc& graph() const { return history_.present(); }
  std::shared_ptr<const ShownGraph> shown() const { return shown_; }
  const Registry* registry() const { return registry_; }
  /// Counts changes of the graph.
  uint64_t revision() const { return revision_; }

  void set_param(const std::string& id, const ParamSpec& spec, ParamValue value);
  /// Two parameters as one step: `value`, and the choice that makes it count.
  void set_params(const std::string& id, std::vector<std::pair<const ParamSpec*, ParamValue>> values);
  void reset_params(const std::string& id);
  void set_enabled(const std::string& id, bool enabled);
  /// Returns the new node's id.
  std::string add(const std::string& filter, const std::string& after);
  void remove(const std::string& id);
  std::string duplicate(const std::string& id);
  void move(const std::string& id, size_t to);
  /// False when the name cannot be had, which was told.
  bool rename(const std::string& id, const std::string& name);
  /// Input `n` of a node; an `input` that is empty takes the last one away.
  void set_input(const std::string& id, size_t n, const std::string& input);
  void set_output(const std::string& id);
  /// A whole graph, as one step; `preset` as in GraphHistory.
  bool replace(GraphDesc graph, const std::string& what, int preset);

  void undo();
  void redo();
  const GraphHistory& history() const { return history_; }
  int preset() const { return history_.preset(); }
  void set_preset(int preset) { history_.set_preset(preset); }

  /// Shows the graph up to a node, until asked again; no part of the graph or its history.
  void toggle_solo(const std::string& id);
  const std::string& solo() const { return solo_; }

  /// What there is to tell the user since the last call; true: a problem.
  std::vector<std::pair<bool, std::string>> take_messages() { return std::exchange(messages_, {}); }

 private:
  bool apply(GraphDesc next, std::string what, std::string key = {});
  void changed();
  void send_changes(const GraphDesc& from, const GraphDesc& to);
  void adopt(const GraphDesc& running);
  void tell(bool problem, std::string text) { messages_.emplace_back(problem, std::move(text)); }

  GraphHistory history_;
  std::shared_ptr<const ShownGraph> shown_ = std::make_shared<ShownGraph>();
  const Registry* registry_ = nullptr;
  std::vector<Command> pending_;
  std::vector<std::pair<bool, std::string>> messages_;
  std::string solo_;
  uint64_t revision_ = 0;
  uint64_t pipeline_ = 0;  // which one is followed; 0: none yet
  uint64_t mark_ = 0, seen_mark_ = 0, seen_version_ = 0;
  bool unsettled_ = false;  // edits were sent that the pipeline has not worked off
  bool mouse_down_ = false;
  int64_t time_ns_ = 0, edited_ns_ = 0;
};

}  // namespace lensd::ui
