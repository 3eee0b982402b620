// Changes of a graph's values: a parameter of a node, or whether a node is enabled. Every layer that sets a
// parameter uses the check and the messages of this file.
//
//   panel, control ── GraphChange ──▶ apply_changes() ──▶ GraphDesc, ChangeResult
//                                └──▶ Plan::set_param() ──▶ the running filter's block
//   --set, --graph, TOML ── text or value ──▶ parse_param(), check_param()
//
// Plain functions on values. For changes of a graph's shape (nodes and edges) use SetGraph.
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
    needs_plan,  ///< takes effect with a new plan only
    refused,     ///< nothing was changed
  } kind = Kind::applied;
  std::string problem;  ///< why the change was refused; names the node

  bool refused() const { return kind == Kind::refused; }
};

/// Makes one change. `needs_plan`: the description is changed, the running plan has to be replaced. The graph
/// must be valid, see validate(). Does not allocate for numbers and booleans that the node already lists.
ChangeResult apply_change(GraphDesc& graph, const GraphChange& change, const Registry& registry);

/// Makes all changes, or none if one of them is refused.
ChangeResult apply_changes(GraphDesc& graph, std::span<const GraphChange> changes, const Registry& registry);

/// Makes the change that "node.param=value" or "node.enabled=false" describes. Throws Error(invalid_config).
void apply_set(GraphDesc& graph, const std::string& assignment, const Registry& registry);
/// Sets `key`, a parameter or "enabled", from text. Returns why the text is refused, or an empty string.
std::string assign(NodeDesc& node, const FilterSchema& schema, const std::string& key,
                   const std::string& text);

/// A parameter of a filter with its checked value.
struct CheckedParam {
  const ParamSpec* spec = nullptr;  ///< null if the value is refused
  ParamValue value;                 ///< converted to the parameter's type
  std::string problem;              ///< why the value is refused
};
CheckedParam check_param(const FilterSchema& schema, const std::string& param, const ParamValue& value);
/// The same for a value in text form, as on the command line.
CheckedParam parse_param(const FilterSchema& schema, const std::string& param, const std::string& text);

/// "there is no parameter 'lo' (canny has low, high)".
std::string unknown_param(const FilterSchema& schema, std::string_view param);
/// "there is no node 'edge' (the graph has median, edges)".
std::string unknown_node(const GraphDesc& graph, std::string_view node);

}  // namespace lensd
