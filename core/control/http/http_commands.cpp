#include "core/control/http/http_commands.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "core/graph/json.hpp"

namespace lensd {
namespace {

/// How long an answer that comes later is waited for.
constexpr auto kAnswerPatience = std::chrono::seconds(40);

Answer no_such_command(const std::string& name) {
  return {Status::not_found, fmt::format("there is no command '{}'", name), {}};
}

/// An empty body stands for an empty object. The answer says what is wrong with the text.
Answer parse_body(const std::string& text, Json& body) {
  body = Json::object();
  if (text.empty()) return {};
  Json wrapped;
  std::string problem;
  // Wrapped, since a body may be an array while requests are objects.
  if (!parse_request("{\"body\":" + text + "}", wrapped, problem) || wrapped.size() != 1)
    return {Status::usage, problem.empty() ? "the body is not valid JSON" : problem, {}};
  body = std::move(wrapped["body"]);
  return {};
}

}  // namespace

Answer HttpCommands::run(const Json& command) const {
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = promise->get_future();
  run_command(target_, {{"command", command}}, nullptr,
              [promise](Answer given) { promise->set_value(std::move(given)); });
  const auto deadline = std::chrono::steady_clock::now() + kAnswerPatience;
  while (future.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready)
    if (stopping_() || std::chrono::steady_clock::now() > deadline)
      return {Status::busy, "there was no answer in time", {}};
  return future.get();
}

Answer HttpCommands::request(const std::string& text) const {
  Json body;
  if (Answer problem = parse_body(text, body); problem.fault != Status::none) return problem;
  if (!body.is_object() || !body.contains("command"))
    return {Status::usage, "expected {\"command\": [NAME, ARGUMENTS…]}", {}};
  return run(body["command"]);
}

Answer HttpCommands::get(const std::string& name,
                         const std::multimap<std::string, std::string>& arguments) const {
  const CommandSpec* command = find_command(name);
  if (!command) return no_such_command(name);
  Json call{name};
  for (const CommandArg& arg : command->args) {
    const auto [begin, end] = arguments.equal_range(arg.name);
    for (auto it = begin; it != end; ++it) call.push_back(it->second);
  }
  return run(call);
}

Answer HttpCommands::post(const std::string& name, const std::string& text) const {
  const CommandSpec* command = find_command(name);
  if (!command) return no_such_command(name);
  Json body;
  if (Answer problem = parse_body(text, body); problem.fault != Status::none) return problem;
  Json args = Json::array();
  if (!body.is_object())
    args = body.is_array() ? std::move(body) : Json::array({std::move(body)});
  else if (!body.empty())
    args = positional(*command, body);
  Json call{name};
  for (Json& arg : args) call.push_back(std::move(arg));
  return run(call);
}

int http_status(Status fault) {
  switch (fault) {
    case Status::none:
      return 200;
    case Status::usage:
      return 400;
    case Status::not_found:
      return 404;
    case Status::refused:
      return 422;
    case Status::busy:
      return 503;
    case Status::failed:
      return 500;
  }
  return 500;
}

Health health_of(const ControlTarget& target) {
  const RunState state = target.state();
  const bool well = state.alive && state.source_state != "failed";
  return {well, json_line({{"ok", well}, {"source", state.source_state}, {"frame", state.frame}}) + "\n"};
}

}  // namespace lensd
