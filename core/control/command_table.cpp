// The table of all commands and their handlers. The handlers of graph commands are in graph_commands.hpp.

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/limits.hpp"
#include "core/base/log.hpp"
#include "core/base/log_levels.hpp"
#include "core/control/commands.hpp"
#include "core/control/events.hpp"
#include "core/control/graph_commands.hpp"
#include "core/control/process_usage.hpp"
#include "core/control/properties.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

void post(CommandCall& call, Command command) {
  call.reply(call.target.post(std::move(command)) ? Response{} : not_posted());
}

std::string text_arg(const CommandCall& call, size_t index, const char* otherwise = "") {
  return index < call.args.size() ? call.args[index].get<std::string>() : otherwise;
}

/// Calls `method` with the first argument, or with an empty string if there is none.
template <void (ControlTarget::*method)(std::string, Reply)>
void forward(CommandCall& call) {
  (call.target.*method)(text_arg(call, 0), std::move(call.reply));
}

// ---- properties -----------------------------------------------------------------------------------------

void get(CommandCall& call) {
  const ControlView view = ControlView::of(call.target);
  if (call.args.empty()) return call.reply({.data = all_properties(view)});
  if (call.args.size() > kMaxRequestNames) return call.reply(too_many_names());
  Json values = Json::object();
  for (const Json& arg : call.args) {
    const std::string name = arg.get<std::string>();
    if (values.contains(name)) continue;
    auto property = property_value(view, name);
    if (!property) return call.reply(no_such_property(view, name));
    if (call.args.size() == 1) return call.reply({.data = std::move(property->value)});
    values[name] = std::move(property->value);
  }
  call.reply({.data = std::move(values)});
}

/// Takes NAME VALUE pairs or one object.
void set(CommandCall& call) {
  const Json& args = call.args;
  if (args.size() == 1 && args[0].is_object())
    return set_properties(call.target, args[0], std::move(call.reply));
  if (args.size() < 2 || args.size() % 2 != 0)
    return call.reply({Status::usage, "set: expected NAME VALUE, any number of times, or one object"});
  PropertyValues values;
  for (size_t i = 0; i < args.size(); i += 2) {
    if (!args[i].is_string()) return call.reply({Status::usage, "set: a name is text"});
    values.emplace_back(args[i].get<std::string>(), args[i + 1]);
  }
  set_properties(call.target, values, std::move(call.reply));
}

/// Takes [ID] NAME…, as in mpv.
void observe(CommandCall& call) {
  if (!call.subscriber)
    return call.reply({Status::usage, "observe: events need the control socket, or GET /events"});
  if (call.args.size() > kMaxRequestNames) return call.reply(too_many_names());
  int64_t id = 0;
  std::vector<std::pair<int64_t, std::string>> wanted;
  const ControlView view = ControlView::of(call.target);
  for (const Json& arg : call.args) {
    if (const auto given = integer_from_json(arg)) {
      id = *given;
      continue;
    }
    if (!arg.is_string()) return call.reply({Status::usage, "observe: expected [ID] NAME…"});
    wanted.emplace_back(id, arg.get<std::string>());
    const std::string& name = wanted.back().second;
    if (name != "events" && !has_property(view, name)) return call.reply(no_such_property(view, name));
  }
  if (wanted.empty()) return call.reply({Status::usage, "observe: expected [ID] NAME…"});
  for (const auto& [number, name] : wanted) {
    if (name == "events")
      call.subscriber->want_events();
    else if (!call.subscriber->observe(number, name))
      return call.reply({Status::refused, "too many observed properties"});
  }
  call.reply({});
}

void unobserve(CommandCall& call) {
  if (!call.subscriber)
    return call.reply({Status::usage, "unobserve: nothing is observed on this connection"});
  const Json& which = call.args[0];
  const std::optional<int64_t> id = integer_from_json(which);
  if (!id && !which.is_string()) return call.reply({Status::usage, "unobserve: expected ID or NAME"});
  call.reply({.data = which.is_string() ? call.subscriber->unobserve(0, which.get<std::string>())
                                        : call.subscriber->unobserve(*id, {})});
}

Json describe_commands() {
  Json all = Json::array();
  for (const CommandSpec& command : command_table()) {
    Json args = Json::array();
    for (const CommandArg& arg : command.args)
      args.push_back(
          {{"name", arg.name}, {"type", arg.type}, {"optional", arg.optional}, {"repeats", arg.repeats}});
    all.push_back(
        {{"name", command.name}, {"args", args}, {"doc", command.doc}, {"changes", command.changes}});
  }
  return all;
}

Json describe_filters(const Registry& registry) {
  Json all = Json::array();
  for (const FilterEntry& entry : registry.filters)
    all.push_back({{"name", entry.schema().name}, {"doc", entry.schema().doc}});
  return all;
}

void list(CommandCall& call) {
  const Registry& registry = call.target.registry();
  const std::string what = text_arg(call, 0, "commands");
  if (what == "commands") return call.reply({.data = describe_commands()});
  if (what == "properties") return call.reply({.data = describe_properties()});
  if (what == "nodes") return call.reply({.data = graph_json(call.target.graph().graph, registry)["nodes"]});
  if (what == "filters") return call.reply({.data = describe_filters(registry)});
  if (what == "controls") return call.reply({.data = describe_controls(ControlView::of(call.target))});
  call.reply({Status::usage, "list: expected commands, properties, nodes, filters or controls"});
}

/// Takes [NAME…]; without names, resets all controls.
void reset(CommandCall& call) {
  if (call.args.size() > kMaxRequestNames) return call.reply(too_many_names());
  std::vector<std::string> names;
  for (const Json& arg : call.args) names.push_back(arg.get<std::string>());
  call.reply(reset_controls(call.target, std::move(names)));
}

// ---- playback -------------------------------------------------------------------------------------------

void seek(CommandCall& call) {
  const std::string mode = text_arg(call, 1, "relative");
  const double seconds = call.args[0].get<double>();
  if (mode != "relative" && mode != "absolute")
    return call.reply({Status::usage, "seek: expected relative or absolute"});
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e9)
    return call.reply({Status::refused, "seek: the position is too large"});
  if (!call.target.state().seekable) return call.reply({Status::refused, "this source cannot seek"});
  post(call, Seek{static_cast<int64_t>(seconds * 1e9), mode == "relative"});
}

void pause(CommandCall& call) {
  const Json arg = call.args.empty() ? Json(true) : call.args[0];
  bool on = true;
  if (arg.is_boolean()) {
    on = arg.get<bool>();
  } else if (arg == "toggle") {  // at the end of a file, toggle plays it again
    const RunState state = call.target.state();
    on = !state.paused && !(state.ended && state.seekable);
  } else {
    return call.reply({Status::usage, "pause: expected true, false or toggle"});
  }
  post(call, Pause{on});
}

void step(CommandCall& call) {
  constexpr int64_t kMaxSteps = 1'000'000;
  const int64_t frames = call.args.empty() ? 1 : integer_from_json(call.args[0]).value_or(0);
  if (frames == 0 || frames < -kMaxSteps || frames > kMaxSteps)
    return call.reply({Status::refused, "step: expected 1 to 1000000 or -1…"});
  if (frames < 0 && !call.target.state().seekable)
    return call.reply({Status::refused, "this source cannot step back"});
  post(call, Step{static_cast<int>(frames)});
}

struct RecordArgs {
  bool on = true;
  StartRecord start;
};

/// The set_ functions return false if they refuse the argument. set_path() refuses a second path.
bool set_on(RecordArgs& args, const Json& arg) {
  const bool off = arg == false || arg == "off" || arg == "stop" || arg == "no";
  if (!off && arg != true && arg != "on") return false;
  args.on = !off;
  return true;
}

bool set_what(RecordArgs& args, const Json& arg) {
  if (arg != "source" && arg != "output") return false;
  args.start.what = arg == "source" ? StartRecord::What::source : StartRecord::What::output;
  return true;
}

bool set_path(RecordArgs& args, const Json& arg) {
  if (!arg.is_string() || !args.start.path.empty()) return false;
  args.start.path = arg.get<std::string>();
  return true;
}

/// Reads an object with "on", "path" and "what". Returns the problem, or an empty string.
std::string read_named(RecordArgs& args, const Json& named) {
  for (const auto& [name, value] : named.items()) {
    if (name != "on" && name != "path" && name != "what") return "the names are on, path and what";
    if (name == "on" && !set_on(args, value)) return "on: expected true or false";
    if (name == "path" && !set_path(args, value)) return "path: expected text";
    if (name == "what" && !set_what(args, value)) return "what: expected output or source";
  }
  return !args.on && named.size() > 1 ? "off takes no other arguments" : "";
}

/// Reads [on|off] [PATH] [output|source]. Returns the problem, or an empty string.
std::string read_positional(RecordArgs& args, const Json& list) {
  bool ok = true;
  for (size_t i = 0; i < list.size() && ok; ++i)
    ok = (i == 0 && set_on(args, list[i])) || set_what(args, list[i]) || set_path(args, list[i]);
  return ok && (args.on || list.size() == 1) ? "" : "expected [on|off] [PATH] [output|source]";
}

/// Takes [on|off] [PATH] [output|source], or one object with "on", "path" and "what".
void record(CommandCall& call) {
  const Json& given = call.args;
  RecordArgs args;
  const bool named = given.size() == 1 && given[0].is_object();
  const std::string problem = named ? read_named(args, given[0]) : read_positional(args, given);
  if (!problem.empty()) return call.reply({Status::usage, "record: " + problem});
  call.target.record(args.on, std::move(args.start), std::move(call.reply));
}

/// Takes [on|off] [NAME]. A boolean may replace on|off. A name after off or false is an error.
void virtual_camera(CommandCall& call) {
  const Json& args = call.args;
  bool on = true;
  size_t next = 0;
  if (!args.empty() && (args[0].is_boolean() || args[0] == "on" || args[0] == "off"))
    on = args[0] == true || args[0] == "on", next = 1;
  const bool named = args.size() == next + 1 && args[next].is_string() && on;
  if (args.size() != next && !named)
    return call.reply({Status::usage, "virtual-camera: expected [on|off] [NAME]"});
  call.target.virtual_camera(on, named ? args[next].get<std::string>() : "", std::move(call.reply));
}

// ---- the program ----------------------------------------------------------------------------------------

Json timings_json(const std::vector<PassStats>& rows) {
  Json all = Json::array();
  for (const PassStats& r : rows) {
    if (!r.active) continue;
    Json row{{"node", r.node}, {"pass", r.pass}, {"gpu", r.gpu}, {"count", r.count}};
    if (r.count > 0)
      row.update({{"last_ms", to_ms(r.last_ns)},
                  {"p50_ms", to_ms(r.p50_ns)},
                  {"p95_ms", to_ms(r.p95_ns)},
                  {"p99_ms", to_ms(r.p99_ns)},
                  {"max_ms", to_ms(r.max_ns)}});
    all.push_back(std::move(row));
  }
  return all;
}

Json statistics_json(const std::vector<NodeStatistics>& nodes) {
  Json all = Json::array();
  for (const NodeStatistics& node : nodes) {
    Json values = Json::object();
    for (const Statistic& value : node.values) values[value.name] = value.value;
    all.push_back({{"node", node.node}, {"frame", node.frame}, {"values", std::move(values)}});
  }
  return all;
}

void stats(CommandCall& call) {
  const Measurements measurements = call.target.measurements();
  const ProcessUsage usage = process_usage();
  call.reply({.data = {{"state", all_properties(ControlView::of(call.target))},
                       {"timings", timings_json(measurements.timings)},
                       {"statistics", statistics_json(measurements.statistics)},
                       {"process",
                        {{"resident_bytes", usage.resident_bytes},
                         {"threads", usage.threads},
                         {"descriptors", usage.descriptors},
                         {"cpu_seconds", usage.cpu_seconds}}}}});
}

void log_level(CommandCall& call) {
  if (call.args.empty()) return call.reply({.data = log::level()});
  if (log::set_level(text_arg(call, 0))) return call.reply({});
  call.reply({Status::refused, "log-level: expected " + log::level_list()});
}

// ---- the table ------------------------------------------------------------------------------------------

constexpr CommandArg kNames[] = {{"name", "text", true, true}};
constexpr CommandArg kAssignments[] = {{"name", "value"}, {"value", "value", true, true}};
constexpr CommandArg kObserve[] = {{"id", "value", true}, {"name", "value", false, true}};
constexpr CommandArg kIdOrName[] = {{"id|name", "value"}};
constexpr CommandArg kWhat[] = {{"what", "text", true}};
constexpr CommandArg kGraph[] = {{"graph", "graph"}};
constexpr CommandArg kNode[] = {{"node", "text"}};
constexpr CommandArg kNodeAdd[] = {{"filter", "text"}, {"after", "text", true}};
constexpr CommandArg kNodeInput[] = {{"node", "text"}, {"index", "integer"}, {"input", "text", true}};
constexpr CommandArg kNodeMove[] = {{"node", "text"}, {"place", "integer"}};
constexpr CommandArg kNodeRename[] = {{"node", "text"}, {"name", "text"}};
constexpr CommandArg kUrl[] = {{"url", "text"}};
constexpr CommandArg kSeek[] = {{"seconds", "number"}, {"mode", "text", true}};
constexpr CommandArg kOn[] = {{"on", "value", true}};
constexpr CommandArg kFrames[] = {{"frames", "integer", true}};
constexpr CommandArg kFactor[] = {{"factor", "number"}};
constexpr CommandArg kPath[] = {{"path", "text", true}};
constexpr CommandArg kRecord[] = {{"on|off", "value", true, false, true},
                                  {"path", "text", true},
                                  {"output|source", "text", true, false, true}};
constexpr CommandArg kVirtualCamera[] = {{"on|off", "value", true, false, true}, {"name", "text", true}};
constexpr CommandArg kLevel[] = {{"level", "text", true}};

constexpr CommandSpec kCommands[] = {
    {"get", "get_property", kNames, "the values of properties; without a name, all of them", false, get},
    {"set", "set_property", kAssignments,
     "sets properties, given as pairs or as one object: all at one frame, or none", true, set, true},
    {"observe", "observe_property", kObserve,
     "sends an event when a property changes; \"events\" selects all other events", false, observe},
    {"unobserve", "unobserve_property", kIdOrName, "stops observing, by id or name", false, unobserve},
    {"list", nullptr, kWhat, "lists commands, properties, nodes, filters or the camera's controls", false,
     list},
    {"reset-controls", nullptr, kNames, "sets the camera's controls to their defaults; all without a name",
     true, reset},
    {"graph-get", nullptr, {}, "the filter graph with all parameters", false, graph_get},
    {"graph-set", nullptr, kGraph,
     "replaces the graph by a chain or an object; changes nothing if it is refused", true, graph_set},
    {"graph-output", nullptr, kNode, "selects the node whose picture is the output, or source", true,
     graph_output},
    {"node-add", nullptr, kNodeAdd, "adds a filter below a node, source or the last node (default)", true,
     node_add},
    {"node-remove", nullptr, kNode, "removes a node; its readers then read its first input", true,
     node_remove},
    {"node-move", nullptr, kNodeMove, "moves a node to a place in the list, from 0", true, node_move},
    {"node-duplicate", nullptr, kNode, "adds a copy below the node", true, node_duplicate},
    {"node-rename", nullptr, kNodeRename, "renames a node, also where it is read", true, node_rename},
    {"node-reset", nullptr, kNode, "sets all parameters of a node to their defaults", true, node_reset},
    {"node-input", nullptr, kNodeInput,
     "sets an input, from 0, to a node or source; without one, removes it and later ones", true, node_input},
    {"load", "loadfile", kUrl, "opens another source, named as on the command line", true,
     forward<&ControlTarget::load>},
    {"seek", nullptr, kSeek, "seeks by seconds: relative (default) or absolute", true, seek},
    {"pause", nullptr, kOn, "true (default), false or toggle", true, pause},
    {"step", nullptr, kFrames, "steps by 1 (default) or more frames, back if negative; pauses", true, step},
    {"speed", nullptr, kFactor, "playback speed as a factor of real time", true,
     [](CommandCall& call) {
       set_properties(call.target, PropertyValues{{"speed", call.args[0]}}, std::move(call.reply));
     }},
    {"snapshot", "screenshot-to-file", kPath, "writes the newest frame, .png or .jpg, below [control] folder",
     true, forward<&ControlTarget::snapshot>},
    {"record", nullptr, kRecord, "records to a file below [record] folder; off stops", true, record, true},
    {"virtual-camera", nullptr, kVirtualCamera,
     "offers the output as a camera to other programs (PipeWire); off withdraws it", true, virtual_camera},
    {"stats", nullptr, {}, "state, timings of passes, statistics of nodes, memory, threads", false, stats},
    {"trace", nullptr, kPath, "writes the last seconds as a Chrome trace below [control] folder", true,
     forward<&ControlTarget::trace>},
    {"reload",
     nullptr,
     {},
     "reads the configuration again; changes nothing if it is refused",
     true,
     [](CommandCall& call) { call.target.reload(std::move(call.reply)); }},
    {"log-level", nullptr, kLevel, "reads the log level, or sets one of [log] level", true, log_level},
    {"log",
     nullptr,
     {},
     "the last messages",
     false,
     [](CommandCall& call) { call.reply({.data = log::recent()}); }},
    {"version",
     nullptr,
     {},
     "lensd's version",
     false,
     [](CommandCall& call) { call.reply({.data = LENSD_VERSION}); }},
    {"quit",
     nullptr,
     {},
     "ends the program",
     true,
     [](CommandCall& call) {
       call.reply({});
       call.target.quit();
     }},
};

}  // namespace

std::span<const CommandSpec> command_table() {
  return kCommands;
}

}  // namespace lensd
