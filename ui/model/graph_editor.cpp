#include "ui/model/graph_editor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/graph/edit_shape.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

/// Wheel steps and key presses at shorter intervals form one undo step.
constexpr int64_t kPauseNs = 700'000'000;

}  // namespace

void GraphEditor::follow(const ViewerModel& model, bool mouse_down, int64_t time_ns) {
  time_ns_ = time_ns;
  const bool released = mouse_down_ && !mouse_down;
  if (released) click_key_ = history_.key(), click_revision_ = revision_;
  if (mouse_down != mouse_down_ || (!mouse_down && time_ns - edited_ns_ > kPauseNs)) end_step();
  mouse_down_ = mouse_down;
  if (!model.registry) return;
  registry_ = model.registry;
  if (model.pipeline != pipeline_) {
    const bool first = pipeline_ == 0;
    pipeline_ = model.pipeline, mark_ = 0, seen_mark_ = 0, seen_version_ = 0, unsettled_ = false;
    if (first) {
      history_.reset(model.graph, history_.preset());
      changed();
    } else {
      // Send edits that were made while the source was opening.
      if (!equivalent(model.opened_with, graph(), *registry_)) pending_.emplace_back(SetGraph{graph()});
      if (!solo_.empty()) pending_.emplace_back(Solo{solo_});
    }
  }
  if (model.graph_mark < mark_ || model.graph_planning || !pending_.empty()) return;
  if (model.graph_mark == seen_mark_ && model.graph_version == seen_version_) return;
  seen_mark_ = model.graph_mark, seen_version_ = model.graph_version;
  if (!equivalent(model.graph, graph(), *registry_)) take_over(model.graph);
  unsettled_ = false;
}

void GraphEditor::take_over(const GraphDesc& running) {
  if (unsettled_ && history_.before() && equivalent(running, *history_.before(), *registry_))
    history_.drop();  // the pipeline refused the edit; its notice has the reason
  else if (unsettled_)
    history_.amend(running);
  else
    history_.record(running, "change by another client", {}, preset());
  changed();
}

/// Ends the current step. Removes it if it changes nothing: a slider may be dragged back to its start.
void GraphEditor::end_step() {
  if (history_.key().empty()) return;
  history_.seal();
  if (!history_.before() || !equivalent(graph(), *history_.before(), *registry_)) return;
  const int saved_as = preset();
  history_.drop();
  history_.set_preset(saved_as);  // the graph may have been saved within the step
  changed();
}

void GraphEditor::take_commands(std::vector<Command>& out) {
  if (pending_.empty()) return;
  std::move(pending_.begin(), pending_.end(), std::back_inserter(out));
  pending_.clear();
  out.emplace_back(EditMark{++mark_});
  unsettled_ = true;
}

/// If a node was renamed, adds it to renames_ and keeps its solo.
void GraphEditor::follow_rename(const GraphDesc& before) {
  auto renamed = renamed_node(before, graph(), *registry_);
  if (!renamed) return;
  if (solo_ == renamed->first) pending_.emplace_back(Solo{solo_ = renamed->second});
  last_rename_ = *renamed;
  renames_.push_back(std::move(*renamed));
}

std::string GraphEditor::former_name(const std::string& id) const {
  const auto& [from, to] = last_rename_;
  return id == to && !graph().find(from) ? from : std::string();
}

void GraphEditor::changed() {
  ++revision_;
  follow_rename(shown_->graph);
  auto shown = std::make_shared<ShownGraph>();
  shown->graph = graph();
  for (const NodeDesc& desc : graph().nodes) {
    if (const FilterEntry* entry = registry_->find(desc.filter))
      shown->nodes.push_back(node_view(desc, entry->schema()));
  }
  shown_ = std::move(shown);
  if (!solo_.empty() && !graph().find(solo_)) {
    solo_.clear();
    pending_.emplace_back(Solo{});
  }
}

bool GraphEditor::apply(GraphDesc next, std::string what, std::string key) {
  if (!registry_) return false;
  if (const auto problems = validate(next, *registry_); !problems.empty()) {
    notify(true, problems.front());
    return false;
  }
  next = resolved(next, *registry_);
  send_changes(graph(), next);
  if (key != history_.key()) end_step();
  history_.record(std::move(next), std::move(what), std::move(key), preset());
  edited_ns_ = time_ns_;
  changed();
  return true;
}

/// Sends SetGraph if the graph's shape differs, else SetParam and SetEnabled, which may not need a new plan.
void GraphEditor::send_changes(const GraphDesc& from, const GraphDesc& to) {
  if (!same_shape(from, to)) {
    pending_.emplace_back(SetGraph{to});
    return;
  }
  Batch batch;
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    const NodeDesc &before = from.nodes[i], &after = to.nodes[i];
    for (const ParamSpec& spec : registry_->find(after.filter)->schema().params)
      if (ParamValue value = value_of(after, spec); value != value_of(before, spec))
        batch.changes.emplace_back(SetParam{after.id, spec.name, std::move(value)});
    if (before.enabled != after.enabled) batch.changes.emplace_back(SetEnabled{after.id, after.enabled});
  }
  if (batch.changes.size() > 1) {
    pending_.emplace_back(std::move(batch));
  } else if (!batch.changes.empty()) {
    std::visit([&](auto& one) { pending_.emplace_back(std::move(one)); }, batch.changes.front());
  }
}

void GraphEditor::set_param(const std::string& id, const ParamSpec& spec, ParamValue value) {
  set_params(id, {{&spec, std::move(value)}});
}

void GraphEditor::set_params(const std::string& id,
                             std::vector<std::pair<const ParamSpec*, ParamValue>> values, const char* group) {
  if (values.empty()) return;
  const ParamSpec& first = *values.front().first;
  const std::string name = group ? group : first.name;
  std::string what = fmt::format("{} {}", id, name);
  if (!group && first.type != ParamType::matrix)
    what += fmt::format(" {}", shown_value(first, values.front().second));
  std::vector<GraphChange> changes;
  for (auto& [spec, value] : values) changes.push_back(SetParam{id, spec->name, std::move(value)});
  GraphDesc next = graph();
  if (const auto result = apply_changes(next, changes, *registry_); result.refused())
    return notify(true, result.problem);
  apply(std::move(next), std::move(what), id + "." + name);
}

void GraphEditor::join_click() {
  if (!click_key_.empty() && click_revision_ == revision_) history_.unseal(click_key_);
}

void GraphEditor::reset_params(const std::string& id) {
  GraphDesc next = graph();
  NodeDesc* node = next.find(id);
  if (!node) return;
  node->params.clear();
  if (!equivalent(next, graph(), *registry_)) apply(std::move(next), "reset " + id);
}

void GraphEditor::set_enabled(const std::string& id, bool enabled) {
  GraphDesc next = graph();
  NodeDesc* node = next.find(id);
  if (!node || node->enabled == enabled) return;
  node->enabled = enabled;
  apply(std::move(next), fmt::format("switch {} {}", id, enabled ? "on" : "off"));
}

std::string GraphEditor::add(const std::string& filter, const std::string& after) {
  const FilterEntry* entry = registry_ ? registry_->find(filter) : nullptr;
  if (!entry) return {};
  GraphDesc next = graph();
  const std::string id = add_node(next, *entry, after);
  return apply(std::move(next), "add " + id) ? id : std::string();
}

void GraphEditor::remove(const std::string& id) {
  GraphDesc next = graph();
  if (!next.find(id)) return;
  remove_node(next, id);
  apply(std::move(next), "remove " + id);
}

std::string GraphEditor::duplicate(const std::string& id) {
  GraphDesc next = graph();
  const std::string copy = duplicate_node(next, id);
  return !copy.empty() && apply(std::move(next), "duplicate " + id) ? copy : std::string();
}

void GraphEditor::move(const std::string& id, size_t to) {
  GraphDesc next = graph();
  if (const EditProblem problem = move_node(next, id, to)) return notify(true, *problem);
  if (!equivalent(next, graph(), *registry_)) apply(std::move(next), "move " + id);
}

bool GraphEditor::rename(const std::string& id, const std::string& name) {
  GraphDesc next = graph();
  if (const EditProblem problem = rename_node(next, id, name)) {
    notify(true, *problem);
    return false;
  }
  return name == id || apply(std::move(next), fmt::format("rename {} to {}", id, name));
}

void GraphEditor::set_input(const std::string& id, size_t n, const std::string& input) {
  GraphDesc next = graph();
  set_node_input(next, id, n, input);
  if (!equivalent(next, graph(), *registry_)) apply(std::move(next), fmt::format("input of {}", id));
}

void GraphEditor::set_output(const std::string& id) {
  GraphDesc next = graph();
  if (next.output == id) return;
  next.output = id;
  apply(std::move(next), fmt::format("show {} as output", id));
}

void GraphEditor::cycle_at_output(const std::string& filter, const std::string& id, const std::string& param,
                                  const std::vector<std::string>& values) {
  const FilterEntry* entry = registry_ ? registry_->find(filter) : nullptr;
  const ParamSpec* spec = entry ? entry->schema().find(param) : nullptr;
  if (!spec) return;
  GraphDesc next = graph();
  NodeDesc* node = next.find(id);
  auto value = values.begin();
  if (node && node->filter == filter) {
    const auto now = std::ranges::find(values, to_string(value_of(*node, *spec)));
    value = now == values.end() ? now : now + 1;
  } else {
    const std::string added = add_node(next, *entry, next.nodes.empty() ? kSourceNode : next.output);
    if (const EditProblem problem = rename_node(next, added, id)) return notify(true, *problem);
    next.output = id;
  }
  if (value == values.end()) {
    remove_node(next, id);
    apply(std::move(next), "remove " + id);
    return;
  }
  node = next.find(id);
  std::erase_if(node->params, [&](const auto& p) { return p.first == param; });
  node->params.emplace_back(param, ParamValue(*value));
  apply(std::move(next), fmt::format("{} {}", id, *value));
}

bool GraphEditor::replace(GraphDesc next, const std::string& what, int preset, std::optional<size_t> slot) {
  if (!registry_) return false;
  if (!slot && equivalent(next, graph(), *registry_)) {
    history_.set_preset(preset);
    return true;
  }
  if (!apply(std::move(next), what)) return false;
  history_.set_preset(preset);
  if (slot) history_.set_slot(*slot);
  return true;
}

void GraphEditor::undo() {
  step(&GraphHistory::undo, "undo", "Undone: ");
}

void GraphEditor::redo() {
  step(&GraphHistory::redo, "redo", "Redone: ");
}

void GraphEditor::step(std::string (GraphHistory::*operation)(), const char* verb, const char* done) {
  end_step();
  const GraphDesc from = graph();
  const std::string what = (history_.*operation)();
  if (what.empty()) return notify(false, fmt::format("Nothing to {}", verb));
  send_changes(from, graph());
  changed();
  notify(false, done + what);
}

void GraphEditor::toggle_solo(const std::string& id) {
  solo_ = solo_ == id ? std::string() : id;
  pending_.emplace_back(Solo{solo_});
}

}  // namespace lensd::ui
