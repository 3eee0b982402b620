#include "core/control/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/control/command_handlers.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

constexpr int kMaxDepth = 32;

Answer wrong(std::string sentence) {
  return {Status::usage, std::move(sentence), {}};
}

// ---- the table ------------------------------------------------------------------------------------------

constexpr CommandArg kNames[] = {{"name", "text", true, true}};
constexpr CommandArg kAssignments[] = {{"name", "value"}, {"value", "value", true, true}};
constexpr CommandArg kObserve[] = {{"id", "value", true}, {"name", "value", false, true}};
constexpr CommandArg kIdOrName[] = {{"id|name", "value"}};
constexpr CommandArg kWhat[] = {{"what", "text", true}};
constexpr CommandArg kGraph[] = {{"graph", "graph"}};
constexpr CommandArg kUrl[] = {{"url", "text"}};
constexpr CommandArg kSeek[] = {{"seconds", "number"}, {"mode", "text", true}};
constexpr CommandArg kOn[] = {{"on", "value", true}};
constexpr CommandArg kFrames[] = {{"frames", "integer", true}};
constexpr CommandArg kFactor[] = {{"factor", "number"}};
constexpr CommandArg kPath[] = {{"path", "text", true}};
constexpr CommandArg kRecord[] = {
    {"on|off", "value", true}, {"path", "text", true}, {"output|source", "text", true}};
constexpr CommandArg kLevel[] = {{"level", "text", true}};

constexpr CommandSpec kCommands[] = {
    {"get", "get_property", kNames, "the values of properties; all of them without a name", false,
     handlers::get},
    {"set", "set_property", kAssignments, "sets properties, all together with one frame or none", true,
     handlers::set},
    {"observe", "observe_property", kObserve,
     "sends an event whenever a property changes; \"events\" stands for all other events", false,
     handlers::observe},
    {"unobserve", "unobserve_property", kIdOrName, "ends observations, by id or name", false,
     handlers::unobserve},
    {"list", nullptr, kWhat, "commands, properties, nodes or filters", false, handlers::list},
    {"graph-get", nullptr, {}, "the filter graph with all parameters", false, handlers::graph_get},
    {"graph-set", nullptr, kGraph, "another graph, as a chain or an object; planned aside, all or nothing",
     true, handlers::graph_set},
    {"load", "loadfile", kUrl, "another source", true, handlers::load},
    {"seek", nullptr, kSeek, "to a time in seconds: relative (default) or absolute", true, handlers::seek},
    {"pause", nullptr, kOn, "true (default), false or toggle", true, handlers::pause},
    {"step", nullptr, kFrames, "so many frames on (1), or back where negative; pauses", true, handlers::step},
    {"speed", nullptr, kFactor, "playback speed, 0.01 to 100", true, handlers::speed},
    {"snapshot", "screenshot-to-file", kPath,
     "writes the newest frame, .png or .jpg, below the folder for captures", true, handlers::snapshot},
    {"record", nullptr, kRecord, "records, to a file below the folder for recordings; off ends it", true,
     handlers::record},
    {"stats",
     nullptr,
     {},
     "state, timings of every pass, statistics of nodes, memory and threads",
     false,
     handlers::stats},
    {"trace", nullptr, kPath, "writes the last seconds as a Chrome trace below the folder for captures", true,
     handlers::trace},
    {"reload", nullptr, {}, "reads the configuration again, all or nothing", true, handlers::reload},
    {"log-level", nullptr, kLevel, "what is logged: trace, debug, info, warn, error or off", true,
     handlers::log_level},
    {"log", nullptr, {}, "the last messages", false, handlers::log_lines},
    {"version", nullptr, {}, "lensd's version", false, handlers::version},
    {"quit", nullptr, {}, "ends the program", true, handlers::quit},
};

bool fits(const Json& value, std::string_view type) {
  if (type == "text") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "graph") return value.is_string() || value.is_object();
  return true;
}

std::string usage(const CommandSpec& command) {
  std::string text = command.name;
  for (const CommandArg& arg : command.args) {
    std::string name = arg.name;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (arg.repeats) name += "…";
    text += arg.optional ? fmt::format(" [{}]", name) : " " + name;
  }
  return text;
}

/// A sentence, or nothing when the arguments fit the command.
std::string check_args(const CommandSpec& command, const Json& args) {
  const bool repeats = !command.args.empty() && command.args.back().repeats;
  const auto needed = static_cast<size_t>(std::count_if(command.args.begin(), command.args.end(),
                                                        [](const CommandArg& a) { return !a.optional; }));
  bool ok = args.size() >= needed && (repeats || args.size() <= command.args.size());
  for (size_t i = 0; ok && i < args.size(); ++i)
    ok = fits(args[i], command.args[std::min(i, command.args.size() - 1)].type);
  return ok ? std::string() : fmt::format("expected {}", usage(command));
}

}  // namespace

std::span<const CommandSpec> command_table() {
  return kCommands;
}

const CommandSpec* find_command(const std::string& name) {
  for (const CommandSpec& command : kCommands)
    if (name == command.name || (command.alias && name == command.alias)) return &command;
  return nullptr;
}

void run_command(ControlTarget& target, const Json& request, Subscriber* subscriber, Reply send) {
  const auto it = request.find("command");
  if (it == request.end() || !it->is_array() || it->empty() || !it->front().is_string())
    return send(wrong("expected {\"command\": [NAME, ARGUMENTS…]}"));
  const std::string name = it->front().get<std::string>();
  const CommandSpec* command = find_command(name);
  if (!command)
    return send({Status::not_found, fmt::format("there is no command '{}', see list commands", name), {}});
  const Json args(it->begin() + 1, it->end());
  if (const std::string problem = check_args(*command, args); !problem.empty()) return send(wrong(problem));
  CommandCall call{target, args, subscriber, std::move(send)};
  command->handler(call);
}

Json positional(const CommandSpec& command, const Json& named) {
  if (command.handler == handlers::set || (command.handler == handlers::record && !named.empty()))
    return Json::array({named});
  Json args = Json::array();
  for (const CommandArg& arg : command.args) {
    const auto it = named.find(arg.name);
    if (it == named.end()) break;
    args.push_back(*it);
  }
  return args;
}

std::string answer_text(const Answer& answer, const Json& request_id) {
  Json json{{"error", answer.fault == Status::none ? "success" : answer.error}};
  if (!answer.data.is_null()) json["data"] = answer.data;
  if (!request_id.is_null()) json["request_id"] = request_id;
  return json_line(json);
}

bool parse_request(std::string_view text, Json& request, std::string& problem) {
  bool deep = false;
  request = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kMaxDepth;
        return !deep;
      },
      false);
  if (deep)
    problem = "the request is nested too deeply";
  else if (request.is_discarded())
    problem = "the request is not valid JSON in UTF-8";
  else if (!request.is_object())
    problem = "the request is not a JSON object";
  else if (const auto id = request.find("request_id");
           id != request.end() && !id->is_number() && !id->is_string() && !id->is_null())
    problem = "a request_id is a number or text";
  else
    return true;
  return false;
}

std::string commands_text() {
  std::string text;
  for (const CommandSpec& command : kCommands)
    text += fmt::format("  {:<28} {}\n", usage(command), command.doc);
  return text;
}

}  // namespace lensd
