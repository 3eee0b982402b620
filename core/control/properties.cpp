#include "core/control/properties.hpp"

#include <fmt/format.h>

#include "core/base/limits.hpp"
#include "core/control/property_table.hpp"
#include "core/graph/edit.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

constexpr std::string_view kSourcePrefix = "source.", kColourPrefix = "colour.";

/// Returns the control of a property "source.NAME", or null.
const SourceControl* find_control(const ControlView& view, const std::string& name) {
  if (!name.starts_with(kSourcePrefix) || !view.controls()) return nullptr;
  return view.controls()->find(std::string_view(name).substr(kSourcePrefix.size()));
}

/// A property name of the form NODE.REST. `node` is null if the graph has no such node.
struct NodeProperty {
  const NodeDesc* node = nullptr;
  std::string id, rest;

  bool is_enabled() const { return node && rest == "enabled"; }
};

NodeProperty find_node(const ControlView& view, const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {};
  const std::string id = name.substr(0, dot);
  return {view.graph.graph.find(id), id, name.substr(dot + 1)};
}

const FilterSchema& schema_of(const ControlView& view, const NodeDesc& node) {
  return view.registry->find(node.filter)->schema();
}

/// Returns the setting of a property "colour.NAME", or null. A parameter of a node named "colour" takes
/// precedence.
const ParamSpec* find_colour_setting(const ControlView& view, const std::string& name) {
  if (!name.starts_with(kColourPrefix)) return nullptr;
  const NodeProperty property = find_node(view, name);
  if (property.node && schema_of(view, *property.node).find(property.rest)) return nullptr;
  return colour_schema().find(name.substr(kColourPrefix.size()));
}

/// Commands that set properties together.
struct PropertyChanges {
  Batch graph;                    ///< changes of the graph and its settings
  std::vector<Command> commands;  ///< playback commands
  ControlValues controls;         ///< controls of the camera

  bool changes_graph() const {
    return !graph.changes.empty() || graph.precision || graph.colour || graph.bypass;
  }
};

/// Parses strings as on the command line, so that clients need not know a parameter's type.
CheckedParam check_json(const FilterSchema& schema, const std::string& param, const Json& value) {
  if (value.is_string()) return parse_param(schema, param, value.get<std::string>());
  if (const auto converted = value_from_json(value)) return check_param(schema, param, *converted);
  return {.problem = fmt::format("{}: expected {}", param, schema.find(param)->allowed())};
}

/// Returns the error for a source without controls. A camera's controls are known only while it is connected.
Response no_controls(const ControlView& view) {
  const std::string& state = view.state.source_state;
  if (state == "connecting" || state == "reconnecting")
    return {Status::busy, fmt::format("the source is {}; a camera lists its controls when it plays", state)};
  return {Status::not_found, "this source has no controls"};
}

Response add_change(const ControlView& view, const std::string& name, const Json& value,
                    PropertyChanges& changes) {
  if (const Property* property = find_property(name)) {
    if (!property->set) return {Status::refused, fmt::format("{} cannot be set", name)};
    const std::string problem = property->set(view, value, changes.commands);
    if (!problem.empty()) return {Status::refused, fmt::format("{}: {}", name, problem)};
    const Command& command = changes.commands.back();
    if (const auto* precision = std::get_if<SetPrecision>(&command))
      changes.graph.precision = precision->precision;
    else if (const auto* bypass = std::get_if<Bypass>(&command))
      changes.graph.bypass = bypass->on;
    else
      return {};
    changes.commands.pop_back();
    return {};
  }
  if (const SourceControl* control = find_control(view, name)) {
    const auto given = value_from_json(value);
    CheckedControl checked = given ? check_control(*control, *given) : CheckedControl{};
    if (!given) checked.problem = fmt::format("{}: expected {}", control->name, allowed_values(*control));
    if (!checked.problem.empty()) return {Status::refused, "source: " + checked.problem};
    set_value(changes.controls, control->name, std::move(checked.value));
    return {};
  }
  if (const ParamSpec* setting = find_colour_setting(view, name)) {
    CheckedParam checked = check_json(colour_schema(), setting->name, value);
    if (!checked.problem.empty()) return {Status::refused, "colour: " + checked.problem};
    if (!changes.graph.colour) changes.graph.colour = view.state.colour;
    setting->put(&*changes.graph.colour, checked.value);
    return {};
  }
  const NodeProperty property = find_node(view, name);
  if (property.is_enabled()) {
    const std::optional<bool> on = boolean_from_json(value);
    if (!on) return {Status::refused, fmt::format("{}: {}", name, kExpectedBoolean)};
    changes.graph.changes.emplace_back(SetEnabled{property.id, *on});
    return {};
  }
  if (!property.node || !schema_of(view, *property.node).find(property.rest))
    return no_such_property(view, name);
  CheckedParam checked = check_json(schema_of(view, *property.node), property.rest, value);
  if (!checked.problem.empty()) return {Status::refused, property.id + ": " + checked.problem};
  changes.graph.changes.emplace_back(SetParam{property.id, property.rest, std::move(checked.value)});
  return {};
}

}  // namespace

ControlView ControlView::of(const ControlTarget& target) {
  ControlView view;
  view.state = target.state(), view.graph = target.graph(), view.registry = &target.registry();
  view.target = &target;
  return view;
}

const SourceControls* ControlView::controls() const {
  if (!controls_ && target) controls_ = target->source_controls();
  return controls_.get();
}

std::optional<PropertyValue> property_value(const ControlView& view, const std::string& name) {
  if (const Property* property = find_property(name))
    return PropertyValue{property->get(view), name == "graph" ? view.graph.frame : view.state.frame_index};
  if (const SourceControl* control = find_control(view, name))
    return PropertyValue{control_json(*control), view.state.frame_index};
  if (const ParamSpec* setting = find_colour_setting(view, name))
    return PropertyValue{to_json(setting->get(&view.state.colour)), view.state.frame_index};
  const NodeProperty property = find_node(view, name);
  if (!property.node) return std::nullopt;
  if (property.is_enabled()) return PropertyValue{property.node->enabled, view.graph.frame};
  const ParamSpec* spec = schema_of(view, *property.node).find(property.rest);
  if (!spec) return std::nullopt;
  return PropertyValue{to_json(value_of(*property.node, *spec)), view.graph.frame};
}

bool has_property(const ControlView& view, const std::string& name) {
  if (find_property(name) || find_control(view, name) || find_colour_setting(view, name)) return true;
  const NodeProperty property = find_node(view, name);
  return property.is_enabled() || (property.node && schema_of(view, *property.node).find(property.rest));
}

Response no_such_property(const ControlView& view, const std::string& name) {
  if (name.starts_with(kSourcePrefix)) {
    if (!view.controls()) {
      const Response none = no_controls(view);
      return {none.status, fmt::format("{}: {}", name, none.error)};
    }
    return {Status::not_found, unknown_control(*view.controls(), name.substr(kSourcePrefix.size()))};
  }
  if (name.starts_with(kColourPrefix) && !find_node(view, name).node)
    return {Status::not_found, unknown_param(colour_schema(), name.substr(kColourPrefix.size()))};
  const auto [node, id, rest] = find_node(view, name);
  if (node) return {Status::not_found, id + ": " + unknown_param(schema_of(view, *node), rest)};
  if (!id.empty()) return {Status::not_found, unknown_node(view.graph.graph, id)};
  return {Status::not_found, fmt::format("there is no property '{}'", name)};
}

void set_properties(ControlTarget& target, const PropertyValues& values, Reply reply) {
  if (values.size() > kMaxRequestNames) return reply(too_many_names());
  const ControlView view = ControlView::of(target);
  PropertyChanges changes;
  for (const auto& [name, value] : values)
    if (Response response = add_change(view, name, value, changes); !response.ok())
      return reply(std::move(response));
  bool posted = true;
  if (!changes.controls.empty()) posted = target.post(SetSourceControls{std::move(changes.controls)});
  for (Command& command : changes.commands) posted = posted && target.post(std::move(command));
  if (!posted || !changes.changes_graph()) return reply(posted ? Response{} : not_posted());
  target.change_graph(std::move(changes.graph), std::move(reply));
}

void set_properties(ControlTarget& target, const Json& object, Reply reply) {
  PropertyValues values;
  for (const auto& [name, value] : object.items()) values.emplace_back(name, value);
  set_properties(target, values, std::move(reply));
}

Response too_many_names() {
  return {Status::refused, fmt::format("a request names at most {} properties", kMaxRequestNames)};
}

Response not_posted() {
  return {Status::busy, "not now: too many commands are waiting, or there is no source yet"};
}

Json describe_properties() {
  Json all = Json::array();
  for (const Property& p : property_table())
    all.push_back({{"name", p.name}, {"doc", p.doc}, {"settable", p.set != nullptr}});
  return all;
}

Json describe_controls(const ControlView& view) {
  static constexpr const char* kTypes[] = {"integer", "boolean", "menu", "button", "bitmask", "text"};
  Json all = Json::array();
  const SourceControls* controls = view.controls();
  if (!controls) return all;
  for (const SourceControl& c : controls->list) {
    Json one{{"name", std::string(kSourcePrefix) + c.name},
             {"label", c.label},
             {"group", c.group},
             {"type", kTypes[static_cast<size_t>(c.kind)]},
             {"allowed", allowed_values(c)},
             {"settable", !c.read_only && !c.locked},
             {"inactive", c.inactive},
             {"volatile", c.self_changing}};
    if (c.kind == ControlKind::menu) one["choices"] = c.choices;
    if (c.kind == ControlKind::integer || c.kind == ControlKind::text || c.kind == ControlKind::bitmask)
      one["min"] = control_json(c, c.min), one["max"] = control_json(c, c.max), one["step"] = c.step;
    if (c.kind != ControlKind::button) one["value"] = control_json(c);
    if (c.kind != ControlKind::button && c.kind != ControlKind::text)
      one["default"] = control_json(c, c.initial);
    all.push_back(std::move(one));
  }
  return all;
}

Response reset_controls(ControlTarget& target, std::vector<std::string> names) {
  const ControlView view = ControlView::of(target);
  if (!view.controls()) return no_controls(view);
  for (std::string& name : names) {
    if (name.starts_with(kSourcePrefix)) name.erase(0, kSourcePrefix.size());
    if (!view.controls()->find(name)) return {Status::not_found, unknown_control(*view.controls(), name)};
  }
  return target.post(ResetSourceControls{std::move(names)}) ? Response{} : not_posted();
}

Json all_properties(const ControlView& view) {
  Json all = Json::object();
  for (const Property& p : property_table()) all[p.name] = p.get(view);
  return all;
}

}  // namespace lensd
