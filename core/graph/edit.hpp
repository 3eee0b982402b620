// Changes values in a graph: parameters of nodes, and whether a node is enabled. Every layer that sets a
// parameter uses the checks and messages of this file.
//
//   panel, control ── GraphChange ──▶ apply_changes() ──▶ GraphDesc, ChangeResult
//                                └──▶ Plan::set_param() ──▶ the running filter's block
//   --set, --graph, TOML ── text or value ──▶ parse_param(), check_param()
//
// Plain functions on values. core/graph/edit_shape.hpp changes nodes and edges.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "core/graph/graph.hpp"

namespace lensd {

struct SetParam {
  std::string node, param;
  ParamValue value;
};
struct SetEnabled {
  std::string node;
  bool enabled = true;
};
using GraphChange = std::variant<SetParam, SetEnabled>;

struct ChangeResult {
  enum class Kind : uint8_t {
    applied,
    needs_plan,  ///< the change needs a new plan
    refused,     ///< the change is invalid; nothing was changed
  } kind = Kind::applied;
  std::string problem;  ///< why the change was refused, with the node's id

  bool refused() const { return kind == Kind::refused; }
};

/// Applies one change to a valid graph. Returns `needs_plan` if `graph` was changed and the current plan must
/// be replaced. Does not allocate if the node already has a number or boolean for this parameter.
ChangeResult apply_change(GraphDesc& graph, const GraphChange& change, const Registry& registry);

/// Applies all changes, or none if one of them is refused. Returns the refusal, or `needs_plan` if at least
/// one change needs a new plan.
ChangeResult apply_changes(GraphDesc& graph, std::span<const GraphChange> changes, const Registry& registry);

/// Applies "node.param=value" or "node.enabled=false". Throws Error(invalid_config) if `assignment` is
/// invalid; the message begins with `origin`.
void apply_set(GraphDesc& graph, const std::string& assignment, const Registry& registry,
               const std::string& origin = "--set");
/// Parses `text` and sets it on a node; `key` is a parameter's name or "enabled". Returns a message if the
/// key or the text is refused, else "".
std::string assign(NodeDesc& node, const FilterSchema& schema, const std::string& key,
                   const std::string& text);

/// A parameter of a filter with its checked value.
struct CheckedParam {
  const ParamSpec* spec = nullptr;  ///< null if the parameter is unknown or the value is refused
  ParamValue value;                 ///< converted to the parameter's type
  std::string problem;              ///< why `spec` is null
};
/// Checks a value of any type for parameter `param`.
CheckedParam check_param(const FilterSchema& schema, const std::string& param, const ParamValue& value);
/// Parses and checks a value given as text, for example on the command line.
CheckedParam parse_param(const FilterSchema& schema, const std::string& param, const std::string& text);

/// Returns true if a change of the parameter `spec` needs a new plan; see ParamSpec::plan_if. `get` returns
/// the node's value of a parameter.
template <class Get>
bool change_needs_plan(const FilterSchema& schema, const ParamSpec& spec, const Get& get) {
  if (spec.change == ParamChange::reconfigure) return true;
  const ParamSpec* const text = spec.plan_if.empty() ? nullptr : schema.find(spec.plan_if);
  return text && get(*text) != ParamValue(std::string());
}

/// Returns a message such as "there is no parameter 'size' (median has radius)", with a suggestion if a
/// parameter has a similar name.
std::string unknown_param(const FilterSchema& schema, std::string_view param);
/// Returns a message such as "there is no node 'edge' (did you mean edges? the graph has median, edges)".
std::string unknown_node(const GraphDesc& graph, std::string_view node);

}  // namespace lensd
