#include "core/control/command_handlers.hpp"

#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/control/process_usage.hpp"
#include "core/graph/json.hpp"

namespace lensd::handlers {
namespace {

constexpr const char* kNotNow = "not now: too many commands are waiting, or there is no source yet";

Answer refused(std::string sentence) {
  return {Status::refused, std::move(sentence), {}};
}
Answer wrong(std::string sentence) {
  return {Status::usage, std::move(sentence), {}};
}

void post(CommandCall& call, Command command) {
  call.reply(call.target.post(std::move(command)) ? Answer{} : Answer{Status::busy, kNotNow, {}});
}

std::string text_arg(const CommandCall& call, size_t index) {
  return index < call.args.size() ? call.args[index].get<std::string>() : std::string();
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

Json timings_json(const std::vector<PassStats>& rows) {
  Json all = Json::array();
  for (const PassStats& r : rows) {
    if (!r.active) continue;
    Json row{{"node", r.node}, {"pass", r.pass}, {"gpu", r.gpu}, {"count", r.count}};
    if (r.count > 0)
      row.update({{"last_ms", static_cast<double>(r.last_ns) * 1e-6},
                  {"p50_ms", static_cast<double>(r.p50_ns) * 1e-6},
                  {"p95_ms", static_cast<double>(r.p95_ns) * 1e-6},
                  {"p99_ms", static_cast<double>(r.p99_ns) * 1e-6},
                  {"max_ms", static_cast<double>(r.max_ns) * 1e-6}});
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

// ---- properties -----------------------------------------------------------------------------------------

void get(CommandCall& call) {
  const View view = View::of(call.target);
  if (call.args.empty()) return call.reply({Status::none, {}, all_properties(view)});
  Json values = Json::object();
  for (const Json& name : call.args) {
    const auto value = property_value(view, name.get<std::string>());
    if (!value) return call.reply(no_such_property(name.get<std::string>()));
    if (call.args.size() == 1) return call.reply({Status::none, {}, value->value});
    values[name.get<std::string>()] = value->value;
  }
  call.reply({Status::none, {}, std::move(values)});
}

/// Name and value in turn, or one object of them. All of it is checked before any of it is posted.
void set(CommandCall& call) {
  const View view = View::of(call.target);
  Changes changes;
  Answer answer;
  const auto add = [&](const std::string& name, const Json& value) {
    if (answer.fault == Status::none) answer = add_change(view, name, value, changes);
  };
  if (call.args.size() == 1 && call.args[0].is_object()) {
    for (const auto& [name, value] : call.args[0].items()) add(name, value);
  } else if (call.args.size() < 2 || call.args.size() % 2 != 0) {
    return call.reply(wrong("set: expected NAME VALUE, any number of times, or one object"));
  } else {
    for (size_t i = 0; i < call.args.size(); i += 2) {
      if (!call.args[i].is_string()) return call.reply(wrong("set: a name is text"));
      add(call.args[i].get<std::string>(), call.args[i + 1]);
    }
  }
  if (answer.fault != Status::none) return call.reply(std::move(answer));
  bool posted = changes.batch.changes.empty() || call.target.post(std::move(changes.batch));
  for (Command& command : changes.commands) posted = posted && call.target.post(std::move(command));
  call.reply(posted ? Answer{} : Answer{Status::busy, kNotNow, {}});
}

/// [ID] NAME, with mpv's numbers; every name must be known.
void observe(CommandCall& call) {
  if (!call.subscriber)
    return call.reply(wrong("observe: this connection has no way back for events; HTTP has /events"));
  int64_t id = 0;
  const View view = View::of(call.target);
  for (const Json& arg : call.args) {
    if (arg.is_number_integer()) {
      id = arg.get<int64_t>();
      continue;
    }
    if (!arg.is_string()) return call.reply(wrong("observe: expected [ID] NAME…"));
    const std::string name = arg.get<std::string>();
    if (name == "events") {
      call.subscriber->want_events();
      continue;
    }
    if (!property_value(view, name)) return call.reply(no_such_property(name));
    if (!call.subscriber->observe(id, name)) return call.reply(refused("too many observed properties"));
  }
  call.reply({});
}

void unobserve(CommandCall& call) {
  if (!call.subscriber) return call.reply(wrong("unobserve: nothing is observed on this connection"));
  const Json& which = call.args[0];
  if (!which.is_number_integer() && !which.is_string())
    return call.reply(wrong("unobserve: expected ID or NAME"));
  const size_t gone = which.is_string() ? call.subscriber->unobserve(0, which.get<std::string>())
                                        : call.subscriber->unobserve(which.get<int64_t>(), {});
  call.reply({Status::none, {}, gone});
}

void list(CommandCall& call) {
  const std::string what = call.args.empty() ? "commands" : text_arg(call, 0);
  if (what == "commands") return call.reply({Status::none, {}, describe_commands()});
  if (what == "properties") return call.reply({Status::none, {}, describe_properties()});
  const View view = View::of(call.target);
  if (what == "nodes")
    return call.reply({Status::none, {}, graph_json(view.graph.graph, *view.registry)["nodes"]});
  if (what == "filters") {
    Json names = Json::array();
    for (const FilterEntry& entry : view.registry->filters)
      names.push_back({{"name", entry.schema().name}, {"doc", entry.schema().doc}});
    return call.reply({Status::none, {}, std::move(names)});
  }
  call.reply(wrong("list: expected commands, properties, nodes or filters"));
}

// ---- graph ----------------------------------------------------------------------------------------------

void graph_get(CommandCall& call) {
  const View view = View::of(call.target);
  Json graph = graph_json(view.graph.graph, *view.registry);
  graph["version"] = view.graph.version, graph["frame"] = view.graph.frame;
  graph["chain"] = to_chain(view.graph.graph), graph["plan"] = view.graph.summary;
  call.reply({Status::none, {}, std::move(graph)});
}

void graph_set(CommandCall& call) {
  Json given = call.args[0];
  if (given.is_object())
    for (const char* key : {"version", "frame", "chain", "plan"}) given.erase(key);  // what graph-get adds
  GraphDesc graph;
  try {
    graph = graph_from_json(given, call.target.registry());
  } catch (const Error& e) {
    return call.reply(refused(e.what()));
  }
  call.target.set_graph(std::move(graph), std::move(call.reply));
}

// ---- playback -------------------------------------------------------------------------------------------

void load(CommandCall& call) {
  call.target.load(text_arg(call, 0), std::move(call.reply));
}

void seek(CommandCall& call) {
  const std::string mode = call.args.size() > 1 ? text_arg(call, 1) : "relative";
  const double seconds = call.args[0].get<double>();
  if (mode != "relative" && mode != "absolute")
    return call.reply(wrong("seek: expected relative or absolute"));
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e9) return call.reply(refused("seek: that is too far"));
  if (!call.target.state().seekable) return call.reply(refused("this source cannot seek"));
  post(call, Seek{static_cast<int64_t>(seconds * 1e9), mode == "relative"});
}

void pause(CommandCall& call) {
  bool on = true;
  if (!call.args.empty() && call.args[0].is_boolean())
    on = call.args[0].get<bool>();
  else if (!call.args.empty() && call.args[0] == "toggle")  // at the end of a file it plays anew
    on = !call.target.state().paused && !(call.target.state().ended && call.target.state().seekable);
  else if (!call.args.empty())
    return call.reply(wrong("pause: expected true, false or toggle"));
  post(call, Pause{on});
}

void step(CommandCall& call) {
  const int64_t frames = call.args.empty() ? 1 : call.args[0].get<int64_t>();
  if (frames == 0 || std::abs(frames) > 1'000'000)
    return call.reply(refused("step: expected 1 to 1000000 or -1…"));
  if (frames < 0 && !call.target.state().seekable) return call.reply(refused("this source cannot step back"));
  post(call, Step{static_cast<int>(frames)});
}

void speed(CommandCall& call) {
  const double factor = call.args[0].get<double>();
  if (!(factor >= 0.01 && factor <= 100)) return call.reply(refused("speed: expected a number 0.01 to 100"));
  post(call, SetSpeed{factor});
}

// ---- files ----------------------------------------------------------------------------------------------

void snapshot(CommandCall& call) {
  call.target.snapshot(text_arg(call, 0), std::move(call.reply));
}
void trace(CommandCall& call) {
  call.target.trace(text_arg(call, 0), std::move(call.reply));
}
/// on|off, a path, output|source, in this order and none of them needed; or an object of them.
void record(CommandCall& call) {
  const auto wrong_args = [&] { call.reply(wrong("record: expected [on|off] [PATH] [output|source]")); };
  Json args = call.args;
  if (args.size() == 1 && args[0].is_object()) {
    args = Json::array();
    for (const char* name : {"on", "path", "what"})
      if (const auto it = call.args[0].find(name); it != call.args[0].end()) args.push_back(*it);
    if (args.size() != call.args[0].size()) return wrong_args();
  }
  bool on = true, first = true;
  StartRecord what;
  for (const Json& arg : args) {
    if (!arg.is_string() && !(first && arg.is_boolean())) return wrong_args();
    if (arg.is_boolean())
      on = arg.get<bool>();
    else if (first && (arg == "on" || arg == "off" || arg == "stop" || arg == "no"))
      on = arg == "on";
    else if (arg == "source" || arg == "output")
      what.what = arg == "source" ? StartRecord::What::source : StartRecord::What::output;
    else if (what.path.empty())
      what.path = arg.get<std::string>();
    else
      return wrong_args();
    first = false;
  }
  if (!on && args.size() > 1) return wrong_args();
  call.target.record(on, std::move(what), std::move(call.reply));
}

// ---- the program ----------------------------------------------------------------------------------------

void stats(CommandCall& call) {
  const View view = View::of(call.target);
  const ProcessUsage usage = process_usage();
  Json nodes = Json::array();
  for (const NodeStatistics& node : call.target.statistics()) {
    Json values = Json::object();
    for (const Statistic& value : node.values) values[value.name] = value.value;
    nodes.push_back({{"node", node.node}, {"frame", node.frame}, {"values", std::move(values)}});
  }
  call.reply({Status::none,
              {},
              {{"state", all_properties(view)},
               {"timings", timings_json(call.target.timings())},
               {"statistics", std::move(nodes)},
               {"process",
                {{"resident_bytes", usage.resident_bytes},
                 {"threads", usage.threads},
                 {"descriptors", usage.descriptors},
                 {"cpu_seconds", usage.cpu_seconds}}}}});
}

void log_level(CommandCall& call) {
  if (call.args.empty()) return call.reply({Status::none, {}, log::level()});
  if (!log::set_level(text_arg(call, 0)))
    return call.reply(refused("log-level: expected trace, debug, info, warn, error or off"));
  call.reply({});
}

void log_lines(CommandCall& call) {
  call.reply({Status::none, {}, log::recent()});
}
void reload(CommandCall& call) {
  call.target.reload(std::move(call.reply));
}
void version(CommandCall& call) {
  call.reply({Status::none, {}, LENSD_VERSION});
}
void quit(CommandCall& call) {
  call.reply({});
  call.target.quit();
}

}  // namespace lensd::handlers
