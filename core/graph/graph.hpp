// The graph as described: nodes, edges, parameters, before anything is planned.
//
//   --graph "median=radius=1,gaussian"  ─┐
//   [[node]] tables in TOML             ─┴▶ GraphDesc ── validate() ──▶ Plan (graph/plan.hpp)
//
// Plain values; copy freely between threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/param.hpp"
#include "core/graph/filter.hpp"

namespace lensd {

/// The name by which nodes refer to the decoded picture.
inline constexpr const char* kSourceNode = "source";

struct NodeDesc {
  std::string id, filter;
  std::vector<std::string> inputs;  ///< node ids or "source"; empty: the node above (or the source)
  bool enabled = true;              ///< false: the first input passes through
  std::vector<std::pair<std::string, ParamValue>> params;  ///< only those that were given
  std::string where;  ///< "file:line:column" for errors, empty from the command line

  /// Sets a parameter without checking it; see core/graph/edit.hpp.
  void set_param(const std::string& param, ParamValue value);
};

struct GraphDesc {
  std::vector<NodeDesc> nodes;
  std::string output;  ///< node id; empty: the last node (the source when there is none)

  NodeDesc* find(const std::string& id);
  const NodeDesc* find(const std::string& id) const;
};

/// Parses a chain, `median=radius=1,canny@edges=low=50:high=150`: nodes parted by ',', a node's parameters
/// by ':', `@edges` names the node. Values are checked against the schema; all errors are
/// reported at once. Throws Error(invalid_config).
GraphDesc parse_chain(const std::string& spec, const Registry& registry);

/// The chain form of a linear graph; for messages.
std::string to_chain(const GraphDesc& graph);

/// All that is wrong with the description by itself, a sentence each, naming the node: unknown filters and
/// inputs, duplicate ids, cycles, wrong arity, refused parameters. Empty when it is sound.
std::vector<std::string> validate(const GraphDesc& graph, const Registry& registry);

/// A copy in which every node has an id and explicit inputs and the output is named. Requires validate().
GraphDesc resolved(const GraphDesc& graph, const Registry& registry);

/// True when both are the same graph: nodes in order with the values they run with, given or default, edges
/// and output. Requires that both are resolved().
bool equivalent(const GraphDesc& a, const GraphDesc& b, const Registry& registry);

/// The value that `node` runs with for `spec`: the given one or the default.
ParamValue value_of(const NodeDesc& node, const ParamSpec& spec);

}  // namespace lensd
