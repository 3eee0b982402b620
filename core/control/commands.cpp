#include "core/control/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/text/suggest.hpp"
#include "core/base/text/text.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

bool has_type(const Json& value, std::string_view type) {
  if (type == "text") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "graph") return value.is_string() || value.is_object();
  return true;
}

bool arguments_match(const CommandSpec& command, const Json& args) {
  const bool repeats = !command.args.empty() && command.args.back().repeats;
  const auto required = static_cast<size_t>(
      std::ranges::count_if(command.args, [](const CommandArg& a) { return !a.optional; }));
  bool match = args.size() >= required && (repeats || args.size() <= command.args.size());
  for (size_t i = 0; match && i < args.size(); ++i)
    match = has_type(args[i], command.args[std::min(i, command.args.size() - 1)].type);
  return match;
}

}  // namespace

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& command : command_table())
    if (name == command.name || (command.alias && name == command.alias)) return &command;
  return nullptr;
}

Response no_such_command(const std::string& name) {
  std::vector<std::string> known;
  for (const CommandSpec& command : command_table()) known.push_back(command.name);
  return {Status::not_found,
          fmt::format("there is no command '{}', {}", name, did_you_mean(name, known, "see list commands"))};
}

void run_command(ControlTarget& target, const Json& request, Subscriber* subscriber, Reply reply) {
  const auto it = request.find("command");
  if (it == request.end() || !it->is_array() || it->empty() || !it->front().is_string())
    return reply({Status::usage, "expected {\"command\": [NAME, ARGUMENTS…]}"});
  const std::string name = it->front().get<std::string>();
  const CommandSpec* command = find_command(name);
  if (!command) return reply(no_such_command(name));
  const Json args(it->begin() + 1, it->end());
  if (!arguments_match(*command, args))
    return reply({Status::usage, fmt::format("expected {}", command_usage(*command))});
  CommandCall call{target, args, subscriber, std::move(reply)};
  command->handler(call);
}

Response positional(const CommandSpec& command, const Json& named, Json& args) {
  args = Json::array();
  if (command.takes_object) {
    args.push_back(named);
    return {};
  }
  for (const CommandArg& arg : command.args) {
    const auto it = named.find(arg.name);
    if (it == named.end()) break;
    args.push_back(*it);
  }
  if (args.size() == named.size()) return {};
  std::string names;
  for (const CommandArg& arg : command.args)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", arg.name);
  return {Status::usage, fmt::format("{}: the names of the arguments, in this order, are: {}", command.name,
                                     names.empty() ? "none" : names)};
}

std::string response_line(const Response& response, const Json& request_id) {
  static constexpr const char* kStatus[] = {"ok", "usage", "not-found", "refused", "busy", "failed"};
  Json json{{"error", response.ok() ? "success" : response.error}};
  if (!response.ok()) json["status"] = kStatus[static_cast<size_t>(response.status)];
  if (!response.data.is_null()) json["data"] = response.data;
  if (!request_id.is_null()) json["request_id"] = request_id;
  return json_line(json) + "\n";
}

Response parse_request(std::string_view text, Json& request) {
  bool deep = false;
  request = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kMaxRequestDepth;
        return !deep;
      },
      false);
  if (deep) return {Status::usage, "the request is nested too deeply"};
  if (request.is_discarded()) return {Status::usage, "the request is not valid JSON in UTF-8"};
  if (!request.is_object()) return {Status::usage, "the request is not a JSON object"};
  const auto id = request.find("request_id");
  if (id != request.end() && !id->is_number() && !id->is_string() && !id->is_null())
    return {Status::usage, "a request_id is a number or text"};
  return {};
}

std::string command_usage(const CommandSpec& command) {
  std::string text = command.name;
  for (const CommandArg& arg : command.args) {
    std::string name = arg.literal ? std::string(arg.name) : upper_case(arg.name);
    if (arg.repeats) name += "…";
    text += arg.optional ? fmt::format(" [{}]", name) : " " + name;
  }
  return text;
}

}  // namespace lensd
