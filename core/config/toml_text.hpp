// A graph as TOML text: whole files, and the pieces that core/config/toml_patch.cpp puts into existing ones.
// Plain functions; any thread.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// A value as TOML writes it: 3, 0.5, true, "replicate", [[1, 2], [3, 4]].
std::string toml_value(const ParamValue& value);
/// Text in quotes, with everything escaped that TOML does not allow there.
std::string toml_quoted(const std::string& text);
/// What stands after `input =` or `inputs =`.
std::string toml_inputs(const std::vector<std::string>& inputs);

/// A [[node]] table with what is not the default. `above` is the id of the node above, or "source".
std::string toml_node(const NodeDesc& node, const std::string& above, const FilterSchema& schema);

/// True where the last node is not the graph's output, so that the file has to name it.
bool needs_output(const GraphDesc& graph);

/// A whole file for a resolved graph.
std::string toml_graph(const GraphDesc& graph, const Registry& registry);

}  // namespace lensd
