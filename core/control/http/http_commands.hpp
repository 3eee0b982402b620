// Commands that come by HTTP: from names, parameters and bodies to the command table, and answers with a
// status.
//
//   connection's thread ── request(), get(), post() ──▶ run_command() ── waits ──▶ Answer
//
// Any thread; a call waits for its answer, for a bounded time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/control/commands.hpp"

namespace lensd {

class HttpCommands {
 public:
  /// `stopping`: no answer is waited for any more.
  HttpCommands(ControlTarget& target, std::function<bool()> stopping)
      : target_(target), stopping_(std::move(stopping)) {}

  /// {"command": [NAME, ARGUMENTS…]}, as on the socket.
  Answer request(const std::string& body) const;
  /// A command that only reads, with its arguments by name.
  Answer get(const std::string& name, const std::multimap<std::string, std::string>& arguments) const;
  /// The body is an array of arguments, an object with them by name, a single argument, or empty.
  Answer post(const std::string& name, const std::string& body) const;

 private:
  Answer run(const Json& command) const;

  ControlTarget& target_;
  const std::function<bool()> stopping_;
};

/// HTTP's status for what a request came to.
int http_status(Status fault);

/// Whether the program and its source are well, and a line of JSON that says so.
struct Health {
  bool well = false;
  std::string text;
};
Health health_of(const ControlTarget& target);

}  // namespace lensd
