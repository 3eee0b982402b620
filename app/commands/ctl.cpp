// lensd ctl: sends a command to a running lensd and prints the reply. After `observe`, also prints events.

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "app/commands/interruption.hpp"
#include "app/ending.hpp"
#include "app/run.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/text.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/control_client.hpp"
#include "core/control/socket/control_socket.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

ControlClient connected_client(const CommandLine& line, int timeout_ms) {
  constexpr auto kAny = ControlClient::Owner::any;
  if (!line.ctl_socket.empty()) return ControlClient(line.ctl_socket, kAny, timeout_ms);
  if (const char* path = std::getenv("LENSD_SOCKET"); path && *path)
    return ControlClient(path, kAny, timeout_ms);
  const std::string path = client_socket_path();
  return ControlClient(path, path == kServiceSocket ? kAny : ControlClient::Owner::trusted, timeout_ms);
}

/// Returns an argument as JSON if it parses ("60", "true", "[[1,2,1]]") and is not null, else as a string.
Json argument(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded() || value.is_null()) return text;
  return value;
}

/// Returns true if argument `index` (from 0) of the command is text. Do not parse such an argument as JSON: a
/// file or node may be named "12".
bool takes_text(const CommandSpec* command, size_t index) {
  if (!command || command->args.empty()) return false;
  return std::string(command->args[std::min(index, command->args.size() - 1)].type) == "text";
}

/// Returns the string value of `key`, or an empty string if there is none. Checks the types, because the peer
/// may be a program other than lensd.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns a value as text without control characters, because names in it may come from outside.
std::string scalar(const Json& value, Lines lines = Lines::join) {
  if (value.is_string()) return printable(value.get<std::string>(), lines);
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : printable(value.dump());
}

/// Returns true for the rows of `list`: names with their documentation.
bool are_entries(const Json& rows) {
  return std::ranges::all_of(
      rows, [](const Json& row) { return !text_of(row, "name").empty() && !text_of(row, "doc").empty(); });
}

/// Prints one line per entry: commands with their arguments, properties with "read only".
void print_entries(const Json& rows) {
  const auto left = [](const Json& row) {
    const std::string name = text_of(row, "name");
    const CommandSpec* command = row.contains("args") ? find_command(name) : nullptr;
    return command ? command_usage(*command) : printable(name);
  };
  const bool properties = rows.front().contains("settable");
  size_t width = 0;
  for (const Json& row : rows) width = std::max(width, left(row).size());
  for (const Json& row : rows)
    fmt::print("{:<{}}  {}{}\n", left(row), width,
               !properties                                  ? ""
               : row.value("settable", Json(true)) == false ? "read only   "
                                                            : "can be set  ",
               printable(text_of(row, "doc")));
}

/// Prints objects as lines "name  value". In lists, objects are separated by empty lines.
void print_value(const Json& data, const std::string& indent = "") {
  if (data.is_object()) {
    size_t width = 0;
    for (const auto& [key, value] : data.items()) width = std::max(width, key.size());
    for (const auto& [key, value] : data.items()) {
      if (value.is_structured() && !value.empty() && (value.is_object() || value.front().is_structured())) {
        fmt::print("{}{}\n", indent, printable(key));
        print_value(value, indent + "  ");
      } else {
        fmt::print("{}{:<{}}  {}\n", indent, printable(key), width, scalar(value));
      }
    }
  } else if (data.is_array() && !data.empty() && are_entries(data)) {
    print_entries(data);
  } else if (data.is_array() && !data.empty() && data.front().is_object()) {
    bool first = true;
    for (const Json& row : data) {
      if (!std::exchange(first, false)) fmt::print("\n");
      print_value(row, indent);
    }
  } else if (data.is_array()) {
    for (const Json& row : data) fmt::print("{}{}\n", indent, scalar(row));
  } else if (!data.is_null()) {
    fmt::print("{}{}\n", indent, scalar(data, Lines::keep));
  }
}

/// Returns the Error of a command that lensd has refused.
Error refusal(const std::string& name, const Json& answer) {
  const bool misused = !find_command(name) || text_of(answer, "status") == "usage";
  std::string reason = text_of(answer, "error");
  if (reason.empty()) reason = "refused";
  if (reason.starts_with(name + ": ")) reason.erase(0, name.size() + 2);  // Error adds the name
  return Error(misused ? ExitCode::usage : ExitCode::runtime_failure, name, reason);
}

/// Prints events, one per line, until a signal arrives. Throws Error(runtime_failure) if lensd closes the
/// connection or an event cannot be printed, EndBySignal if the reader of standard output closes it.
void stream(ControlClient& client, bool json) {
  const Interruption interruption;
  while (!interruption.requested()) {
    if (stdout_closed()) throw EndBySignal{SIGPIPE, ""};
    const auto line = client.receive(200);
    if (!line && client.closed())
      throw Error(ExitCode::runtime_failure, "ctl", "lensd closed the connection");
    if (!line) continue;
    const Json event = Json::parse(*line, nullptr, false);
    if (json || !event.is_object() || text_of(event, "event") != "property-change")
      fmt::print("{}\n", json ? *line : printable(*line));
    else
      fmt::print("{} = {}  (frame {})\n", printable(text_of(event, "name")),
                 scalar(event.value("data", Json())), scalar(event.value("frame", Json())));
    finish_stdout();
  }
}

}  // namespace

void run_ctl(const CommandLine& line) {
  std::vector<std::string> args = line.ctl_args;
  if (!args.empty() && args.front() == "--") args.erase(args.begin());
  if (args.empty()) throw Error(ExitCode::usage, "ctl", "no command given", "see lensd ctl --help");
  Json request{{"command", {args[0]}}, {"request_id", 1}};
  const CommandSpec* command = find_command(args[0]);
  for (size_t i = 1; i < args.size(); ++i)
    request["command"].push_back(takes_text(command, i - 1) ? Json(args[i]) : argument(args[i]));

  const int64_t deadline = now_ns() + static_cast<int64_t>(line.ctl_timeout_s * 1e9);
  const auto left_ms = [deadline] {
    return static_cast<int>(std::clamp<int64_t>((deadline - now_ns()) / 1'000'000, 0, INT_MAX));
  };
  ControlClient client = connected_client(line, left_ms());
  client.send(json_line(request), left_ms());
  for (;;) {
    const auto text = client.receive(left_ms());
    if (!text)
      throw Error(ExitCode::runtime_failure, "ctl",
                  client.closed() ? "the connection was closed" : "no answer before the timeout");
    const Json answer = Json::parse(*text, nullptr, false);
    if (!answer.is_object())
      throw Error(ExitCode::runtime_failure, "ctl",
                  "the answer is not JSON: " + shortened(*text, kShownName));
    if (answer.contains("event")) continue;
    if (line.json) fmt::print("{}\n", *text);
    if (text_of(answer, "error") != "success") throw refusal(args[0], answer);
    if (!line.json) print_value(answer.value("data", Json()));
    break;
  }
  if (args[0] == "observe" || args[0] == "observe_property") {
    finish_stdout();
    stream(client, line.json);
  }
}

}  // namespace lensd
