// The command table: one list for the socket, HTTP and `lensd ctl`.
//
//   {"command": ["set", "edges.low", 60], "request_id": 7} ── run() ──▶ handler ──▶ ControlTarget
//                                       {"request_id": 7, "error": "success"} ◀── send, at once or later
//
// Any thread may call run(). It never waits for the pipeline: what takes time answers from another thread.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/control/events.hpp"
#include "core/control/target.hpp"

namespace lensd {

/// One call of a command: its arguments are checked against the table.
struct CommandCall {
  ControlTarget& target;
  const Json& args;        ///< array, without the command's name
  Subscriber* subscriber;  ///< null where events cannot be sent
  Reply reply;
};

/// How an argument is written in the list of commands.
struct CommandArg {
  const char* name;
  const char* type;  ///< text, number, integer, boolean, value or graph; "value" is any of them
  bool optional = false;
  bool repeats = false;  ///< the rest of the arguments, in the pattern of the last ones
};

struct CommandSpec {
  const char* name;
  const char* alias;  ///< mpv's name; null: none
  std::span<const CommandArg> args;
  const char* doc;
  bool changes;  ///< false: only reads, so that HTTP allows GET
  void (*handler)(CommandCall& call);
};

std::span<const CommandSpec> command_table();
/// By name or alias; null when there is none.
const CommandSpec* find_command(const std::string& name);

/// Runs {"command": [name, arguments…]}. `send` gets the answer, once, from any thread.
void run_command(ControlTarget& target, const Json& request, Subscriber* subscriber, Reply send);

/// Arguments given by name, {"seconds": 5}, in the command's order. The object itself for `set`.
Json positional(const CommandSpec& command, const Json& named);

/// The answer on the wire: {"error": "success" or a sentence, "data", "request_id"}. One line, valid UTF-8.
std::string answer_text(const Answer& answer, const Json& request_id);

/// Parses one request. False, with a sentence in `problem`, when it is no JSON object, too deep or not UTF-8.
bool parse_request(std::string_view text, Json& request, std::string& problem);

/// A line for each command, for `lensd ctl --help`.
std::string commands_text();

}  // namespace lensd
