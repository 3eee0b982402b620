// Formats a graph as TOML: whole files, and the parts that core/config/toml_patch.cpp inserts into existing
// files. Thread-safe.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// Returns a value in TOML, for example 3, 0.5, true, "replicate" or [[1, 2], [3, 4]].
std::string toml_value(const ParamValue& value);
/// Returns `text` as a quoted and escaped TOML string. Replaces bytes that are not UTF-8 with U+FFFD, because
/// they would make the whole file unreadable.
std::string toml_quoted(const std::string& text);
/// Returns the value of `input =` or `inputs =`: a string for one input, else an array.
std::string toml_inputs(const std::vector<std::string>& inputs);

/// Returns a [[node]] table without the parameters that have their default values. `above` is the id of the
/// node above, or "source".
std::string toml_node(const NodeDesc& node, const std::string& above, const FilterSchema& schema);

/// Returns true if the file must name the graph's output, because it is not the last node or there are no
/// nodes.
bool needs_output(const GraphDesc& graph);

/// Returns the [[node]] tables of a resolved graph.
std::string toml_nodes(const GraphDesc& graph, const Registry& registry);

/// Returns the text of a whole file for a resolved graph.
std::string toml_graph(const GraphDesc& graph, const Registry& registry);

}  // namespace lensd
