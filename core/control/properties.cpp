#include "core/control/properties.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/clock.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

/// Makes the command that sets a property, or a sentence.
using Setter = std::string (*)(const View&, const Json&, std::vector<Command>&);

struct Property {
  const char* name;
  const char* doc;
  Json (*get)(const View&);
  Setter set;  ///< null: read only
};

template <class C>
std::string set_boolean(const View&, const Json& value, std::vector<Command>& out) {
  if (!value.is_boolean()) return "expected true or false";
  out.push_back(C{value.get<bool>()});
  return {};
}

std::string set_speed(const View&, const Json& value, std::vector<Command>& out) {
  if (!value.is_number() || value.get<double>() < 0.01 || value.get<double>() > 100)
    return "expected a number 0.01 to 100";
  out.push_back(SetSpeed{value.get<double>()});
  return {};
}

std::string set_position(const View& view, const Json& value, std::vector<Command>& out) {
  if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1e9)
    return "expected a time in seconds from 0";
  if (!view.state.seekable) return "this source cannot seek";
  out.push_back(Seek{static_cast<int64_t>(value.get<double>() * 1e9), false});
  return {};
}

Json source_json(const View& v) {
  const RunState& s = v.state;
  return {{"url", s.source_url},       {"name", s.source_name},     {"state", s.source_state},
          {"reason", s.source_reason}, {"detail", s.source_detail}, {"live", s.live},
          {"seekable", s.seekable},    {"width", s.picture.width},  {"height", s.picture.height},
          {"fps", s.source_fps},       {"reconnects", s.reconnects}};
}

Json counters_json(const View& v) {
  const RunState& s = v.state;
  return {{"decoded", s.decoded},
          {"processed", s.processed},
          {"late", s.late},
          {"dropped", s.dropped},
          {"dropped_recorder", s.record.dropped},
          {"dropped_stream", s.stream.dropped},
          {"record_failures", s.record.failures},
          {"reconnects", s.reconnects},
          {"reloads", s.reloads},
          {"errors", s.errors},
          {"reloads_refused", s.reloads_refused}};
}

Json record_json(const View& v) {
  const auto& r = v.state.record;
  return {{"on", r.wanted},       {"active", r.active},     {"path", v.state.recording},
          {"frames", r.frames},   {"bytes", r.bytes},       {"files", r.files},
          {"dropped", r.dropped}, {"failures", r.failures}, {"problem", r.problem}};
}

Json stream_json(const View& v) {
  const auto& s = v.state.stream;
  return {{"url", s.url}, {"state", s.state}, {"frames", s.sent}, {"bytes", s.bytes}, {"dropped", s.dropped}};
}

double rounded(double value) {
  return std::round(value * 100) / 100;
}

/// The visible list of all properties that are not a node's.
constexpr Property kProperties[] = {
    {"pause", "playback stands still", [](const View& v) -> Json { return v.state.paused; },
     set_boolean<Pause>},
    {"speed", "playback speed", [](const View& v) -> Json { return v.state.speed; }, set_speed},
    {"time-pos", "position in seconds; setting it seeks",
     [](const View& v) -> Json { return to_s(v.state.position_ns); }, set_position},
    {"duration", "length in seconds, 0 where it is not known",
     [](const View& v) -> Json { return to_s(v.state.duration_ns); }, nullptr},
    {"frame", "index of the newest frame", [](const View& v) -> Json { return v.state.frame; }, nullptr},
    {"rate", "frames a second made lately", [](const View& v) -> Json { return rounded(v.state.rate); },
     nullptr},
    {"loop-file", "start over at the end", [](const View& v) -> Json { return v.state.loop_file; },
     [](const View&, const Json& value, std::vector<Command>& out) -> std::string {
       if (!value.is_boolean()) return "expected true or false";
       out.push_back(SetLoop{.file = value.get<bool>()});
       return {};
     }},
    {"bypass", "the decoded picture instead of the graph's output",
     [](const View& v) -> Json { return v.state.bypass; }, set_boolean<Bypass>},
    {"ended", "the source has come to its end", [](const View& v) -> Json { return v.state.ended; }, nullptr},
    {"source", "what is played and how it is doing", source_json, nullptr},
    {"counters", "frames and events since the start", counters_json, nullptr},
    {"backend", "what the graph runs on", [](const View& v) -> Json { return v.state.backend; }, nullptr},
    {"recording", "the file that is being recorded, empty when none is",
     [](const View& v) -> Json { return v.state.recording; }, nullptr},
    {"record", "how the recording is doing", record_json, nullptr},
    {"stream", "where the result is sent, and how that is doing", stream_json, nullptr},
    {"graph", "the filter graph, as graph-get gives it",
     [](const View& v) -> Json { return graph_json(v.graph.graph, *v.registry); }, nullptr},
};

const Property* find(const std::string& name) {
  for (const Property& property : kProperties)
    if (name == property.name) return &property;
  return nullptr;
}

/// "edges.low" in the graph: the node and the parameter's name; a null node when there is none.
std::pair<const NodeDesc*, std::string> find_node(const View& view, const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {nullptr, {}};
  return {view.graph.graph.find(name.substr(0, dot)), name.substr(dot + 1)};
}

const ParamSpec* find_param(const View& view, const NodeDesc& node, const std::string& param) {
  const FilterEntry* entry = view.registry->find(node.filter);
  return entry ? entry->schema().find(param) : nullptr;
}

std::string unknown(const View& view, const std::string& name) {
  const auto [node, param] = find_node(view, name);
  if (node) return node->id + ": " + unknown_param(view.registry->find(node->filter)->schema(), param);
  return name.find('.') == std::string::npos
             ? fmt::format("there is no property '{}'", name)
             : unknown_node(view.graph.graph, name.substr(0, name.rfind('.')));
}

Answer add_param(const NodeDesc& node, const ParamSpec& spec, const Json& value, Changes& changes) {
  ParamValue converted;
  std::optional<std::string> problem;
  // Text is read like on the command line, so that clients need not know types.
  if (value.is_string() && spec.type != ParamType::text && spec.type != ParamType::choice) {
    problem = spec.parse(value.get<std::string>(), converted);
  } else if (const auto given = value_from_json(value)) {
    problem = spec.check(*given, converted);
  } else {
    problem = fmt::format("{}: expected {}", spec.name, spec.allowed());
  }
  if (problem) return {Status::refused, node.id + ": " + *problem, {}};
  changes.batch.changes.emplace_back(SetParam{node.id, spec.name, std::move(converted)});
  return {};
}

}  // namespace

View View::of(const ControlTarget& target) {
  return {target.state(), target.graph(), &target.registry()};
}

std::optional<PropertyValue> property_value(const View& view, const std::string& name) {
  if (const Property* property = find(name)) {
    const bool of_graph = name == "graph";
    return PropertyValue{property->get(view), of_graph ? view.graph.frame : view.state.frame};
  }
  const auto [node, param] = find_node(view, name);
  if (!node) return std::nullopt;
  if (param == "enabled") return PropertyValue{node->enabled, view.graph.frame};
  const ParamSpec* spec = find_param(view, *node, param);
  if (!spec) return std::nullopt;
  return PropertyValue{to_json(value_of(*node, *spec)), view.graph.frame};
}

Answer no_such_property(const std::string& name) {
  return {Status::not_found, fmt::format("there is no property '{}'", name), {}};
}

Answer add_change(const View& view, const std::string& name, const Json& value, Changes& changes) {
  if (const Property* property = find(name)) {
    if (!property->set) return {Status::refused, fmt::format("{} cannot be set", name), {}};
    const std::string problem = property->set(view, value, changes.commands);
    if (!problem.empty()) return {Status::refused, fmt::format("{}: {}", name, problem), {}};
    return {};
  }
  const auto [node, param] = find_node(view, name);
  if (node && param == "enabled") {
    if (!value.is_boolean()) return {Status::refused, name + ": expected true or false", {}};
    changes.batch.changes.emplace_back(SetEnabled{node->id, value.get<bool>()});
    return {};
  }
  const ParamSpec* spec = node ? find_param(view, *node, param) : nullptr;
  if (!spec) return {Status::not_found, unknown(view, name), {}};
  return add_param(*node, *spec, value, changes);
}

Json describe_properties() {
  Json all = Json::array();
  for (const Property& p : kProperties)
    all.push_back({{"name", p.name}, {"doc", p.doc}, {"settable", p.set != nullptr}});
  return all;
}

Json all_properties(const View& view) {
  Json all = Json::object();
  for (const Property& p : kProperties) all[p.name] = p.get(view);
  return all;
}

}  // namespace lensd
