// The description of a graph: nodes, edges and parameters.
//
//   --graph "median=radius=1,gaussian"  ─┐
//   [[node]] tables in TOML             ─┼▶ GraphDesc ── validate() ──▶ Plan (core/graph/plan.hpp)
//   chain or object in JSON (control)   ─┘
//
// Plain values; copy freely between threads.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/param.hpp"
#include "core/graph/filter.hpp"

namespace lensd {

/// Error text for a node with both keys.
inline constexpr const char* kInputTwice = "has both input and inputs (keep one of them)";

/// Id of the decoded picture as an input of nodes.
inline constexpr const char* kSourceNode = "source";

struct NodeDesc {
  std::string id, filter;
  std::vector<std::string> inputs;  ///< node ids or "source"; empty: the previous node, else the source
  bool enabled = true;              ///< false: the first input passes through
  std::vector<std::pair<std::string, ParamValue>>
      params;         ///< values that were set; all others are the defaults
  std::string where;  ///< "file:line:column", for error messages; empty if not from a file

  /// Returns "file:line:column: id" for messages; only the id if `where` is empty.
  std::string label() const { return where.empty() ? id : where + ": " + id; }
  /// Sets a parameter without checking it; see core/graph/edit.hpp.
  void set_param(const std::string& param, ParamValue value);
};

struct GraphDesc {
  std::vector<NodeDesc> nodes;
  std::string output;  ///< node id; empty: the last node, or the source if there are no nodes

  NodeDesc* find(const std::string& id);
  const NodeDesc* find(const std::string& id) const;
};

/// Returns the first node for which `matches` returns true, from node `id` upwards along first inputs.
/// Returns null if there is none.
template <class Match>
const NodeDesc* upstream(const GraphDesc& graph, const std::string& id, const Match& matches) {
  const NodeDesc* node = graph.find(id);
  for (size_t steps = 0; node && !matches(*node); ++steps) {
    if (node->inputs.empty() || steps > graph.nodes.size()) return nullptr;  // the graph may have a cycle
    node = graph.find(node->inputs.front());
  }
  return node;
}

/// Returns a message if the name contains characters that --graph and --set cannot express in a node's name,
/// else nullopt.
std::optional<std::string> name_problem(const std::string& name);

/// Parses a chain such as `median=radius=1,canny@edges=low=50:high=150`: ',' separates nodes, ':' separates
/// parameters, `@edges` sets the id. Throws Error(invalid_config) with `origin` and the problems.
GraphDesc parse_chain(const std::string& spec, const Registry& registry,
                      const std::string& origin = "--graph");

/// Returns the filters, ids and parameters as a chain, for messages and control. Omits inputs, the output and
/// whether nodes are enabled.
std::string to_chain(const GraphDesc& graph);

/// Returns all problems, for example unknown filters and inputs, duplicate ids, cycles, wrong numbers of
/// inputs or refused parameters. Returns an empty vector if the graph is valid. If a size exceeds its limit
/// (core/base/limits.hpp), returns only such problems.
std::vector<std::string> validate(const GraphDesc& graph, const Registry& registry);

/// Returns "600 nodes are too many, the limit is 256" for a `count` of 600.
std::string too_many_nodes(size_t count);

/// Returns resolved(graph) if `problems` is empty and validate() finds no problem. Otherwise throws
/// Error(invalid_config) with `where`, the problems (capped by cap_problems()) and `hint`.
GraphDesc checked(const std::string& where, const GraphDesc& graph, std::vector<std::string> problems,
                  const Registry& registry, const std::string& hint = {});

/// Clears NodeDesc::where of all nodes. Call before an edit that does not come from the file, because the
/// lines then no longer describe the graph.
void clear_places(GraphDesc& graph);

/// Returns a copy with all node ids, inputs and the output set explicitly. The graph must be valid.
GraphDesc resolved(const GraphDesc& graph, const Registry& registry);

/// Returns true if both graphs have the same nodes in the same order, with equal parameters (set or default),
/// and the same edges and output. Both graphs must be resolved().
bool equivalent(const GraphDesc& a, const GraphDesc& b, const Registry& registry);

/// Returns the node's value for `spec`. Returns the default if the node sets no value, or one that is
/// refused.
ParamValue value_of(const NodeDesc& node, const ParamSpec& spec);

}  // namespace lensd
