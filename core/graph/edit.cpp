#include "core/graph/edit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/text/suggest.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

using Kind = ChangeResult::Kind;

/// Returns a text such as "did you mean radius? ", or "" if no known name is similar.
std::string suggestion(std::string_view typed, const std::vector<std::string>& known) {
  const std::string text = did_you_mean(typed, known);
  return text.empty() ? text : text + " ";
}

std::string list_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

template <class Check>
CheckedParam find_and_check(const FilterSchema& schema, const std::string& param, const Check& check) {
  CheckedParam checked;
  const ParamSpec* const spec = schema.find(param);
  if (!spec)
    checked.problem = unknown_param(schema, param);
  else if (auto problem = check(*spec, checked.value))
    checked.problem = std::move(*problem);
  else
    checked.spec = spec;
  return checked;
}

ChangeResult apply(NodeDesc& node, const SetEnabled& change, const Registry&) {
  const bool differs = node.enabled != change.enabled;
  node.enabled = change.enabled;
  return {differs ? Kind::needs_plan : Kind::applied, {}};
}

ChangeResult apply(NodeDesc& node, const SetParam& change, const Registry& registry) {
  const FilterSchema& schema = registry.find(node.filter)->schema();
  CheckedParam checked = check_param(schema, change.param, change.value);
  if (!checked.spec) return {Kind::refused, node.id + ": " + checked.problem};
  node.set_param(change.param, std::move(checked.value));
  const bool reconfigures = change_needs_plan(
      schema, *checked.spec, [&node](const ParamSpec& other) { return value_of(node, other); });
  return {node.enabled && reconfigures ? Kind::needs_plan : Kind::applied, {}};
}

}  // namespace

ChangeResult apply_change(GraphDesc& graph, const GraphChange& change, const Registry& registry) {
  return std::visit(
      [&](const auto& c) -> ChangeResult {
        NodeDesc* node = graph.find(c.node);
        if (!node) return {Kind::refused, unknown_node(graph, c.node)};
        return apply(*node, c, registry);
      },
      change);
}

ChangeResult apply_changes(GraphDesc& graph, std::span<const GraphChange> changes, const Registry& registry) {
  GraphDesc changed = graph;
  ChangeResult all;
  for (const GraphChange& change : changes) {
    ChangeResult one = apply_change(changed, change, registry);
    if (one.refused()) return one;
    if (one.kind == Kind::needs_plan) all.kind = one.kind;
  }
  graph = std::move(changed);
  return all;
}

void apply_set(GraphDesc& graph, const std::string& assignment, const Registry& registry,
               const std::string& origin) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ExitCode::invalid_config, origin + " " + assignment, problem, "see `lensd filters`");
  };
  const size_t equals = assignment.find('='), dot = assignment.rfind('.', equals);
  if (equals == std::string::npos || dot == std::string::npos || dot == 0)
    fail("expected node.parameter=value");
  const auto part = [&](size_t begin, size_t end) {  // blanks are allowed, as in chains
    return std::string(trimmed(std::string_view(assignment).substr(begin, end - begin)));
  };
  const std::string id = part(0, dot);
  NodeDesc* node = graph.find(id);
  if (!node) fail(unknown_node(graph, id));
  const std::string problem = assign(*node, registry.find(node->filter)->schema(), part(dot + 1, equals),
                                     part(equals + 1, assignment.size()));
  if (!problem.empty()) fail(problem);
}

std::string assign(NodeDesc& node, const FilterSchema& schema, const std::string& key,
                   const std::string& text) {
  if (key == "enabled") {
    if (text != "true" && text != "false")
      return fmt::format("enabled = '{}' is not allowed, expected true or false", text);
    node.enabled = text == "true";
    return {};
  }
  CheckedParam checked = parse_param(schema, key, text);
  if (checked.spec) node.set_param(key, std::move(checked.value));
  return checked.problem;
}

CheckedParam check_param(const FilterSchema& schema, const std::string& param, const ParamValue& value) {
  return find_and_check(schema, param, [&](auto& spec, auto& out) { return spec.check(value, out); });
}

CheckedParam parse_param(const FilterSchema& schema, const std::string& param, const std::string& text) {
  return find_and_check(schema, param, [&](auto& spec, auto& out) { return spec.parse(text, out); });
}

std::string unknown_param(const FilterSchema& schema, std::string_view param) {
  std::vector<std::string> known;
  for (const ParamSpec& spec : schema.params) known.push_back(spec.name);
  return fmt::format("there is no parameter '{}' ({}{} has {})", param, suggestion(param, known), schema.name,
                     list_or_none(known));
}

std::string unknown_node(const GraphDesc& graph, std::string_view node) {
  std::vector<std::string> known;
  for (const NodeDesc& n : graph.nodes) known.push_back(n.id);
  return fmt::format("there is no node '{}' ({}the graph has {})", node, suggestion(node, known),
                     list_or_none(known));
}

}  // namespace lensd
