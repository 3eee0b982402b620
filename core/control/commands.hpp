// Commands: one table for the socket, HTTP and `lensd ctl`.
//
//   {"command": ["set", "edges.low", 60], "request_id": 7} ── run_command() ──▶ handler ──▶ ControlTarget
//                                       {"request_id": 7, "error": "success"} ◀── Reply, at once or later
//
// Thread-safe. run_command() does not wait for the pipeline; slow commands reply from another thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/control/control_target.hpp"

namespace lensd {

class Subscriber;

/// One call of a command. The arguments match the command's entry in the table.
struct CommandCall {
  ControlTarget& target;
  const Json& args;        ///< array of arguments, without the command's name
  Subscriber* subscriber;  ///< null if the connection cannot receive events
  Reply reply;
};

struct CommandArg {
  const char* name;
  const char* type;  ///< text, number, integer, boolean, graph (text or object) or value (any type)
  bool optional = false;
  bool repeats = false;  ///< last argument only: may be given several times
  bool literal = false;  ///< `name` lists words to type, not the name of a value
};

struct CommandSpec {
  const char* name;
  const char* alias;  ///< mpv's name of the command; null: none
  std::span<const CommandArg> args;
  const char* doc;
  bool changes;  ///< false: the command only reads, and HTTP allows GET
  void (*handler)(CommandCall& call);
  bool takes_object = false;  ///< passes named arguments to the handler as one object
};

std::span<const CommandSpec> command_table();
/// Returns the command with this name or alias, or null if there is none.
const CommandSpec* find_command(std::string_view name);
Response no_such_command(const std::string& name);

/// Runs {"command": [NAME, ARGUMENTS…]}. Calls `reply` exactly once, from any thread.
void run_command(ControlTarget& target, const Json& request, Subscriber* subscriber, Reply reply);

/// Converts named arguments, such as {"seconds": 5}, to positional ones in `args`. Returns a usage error if a
/// name is unknown or an argument before a named one is missing. For commands with `takes_object`, `named`
/// becomes the only argument.
Response positional(const CommandSpec& command, const Json& named, Json& args);

/// Returns {"error", "status", "data", "request_id"} as one line of valid UTF-8 with a newline. "error" is
/// "success" or a message; "status" is the kind of failure, absent on success.
std::string response_line(const Response& response, const Json& request_id = nullptr);

/// Parses `text` into `request`. Returns Status::usage if the text is not a JSON object in UTF-8, is nested
/// too deeply, or has a request_id that is not a number, a string or null.
Response parse_request(std::string_view text, Json& request);

/// Returns the command's syntax, for example "seek SECONDS [MODE]".
std::string command_usage(const CommandSpec& command);

}  // namespace lensd
