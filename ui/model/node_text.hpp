// Nodes as text, for the clipboard: the TOML of a configuration file, or a chain. Pure functions.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace lensd::ui {

/// Returns a node as a [[node]] table in which the source replaces its inputs. Returns an empty string if
/// there is no such node.
std::string node_text(const GraphDesc& graph, const std::string& id, const Registry& registry);

/// Returns the graph with the nodes of `text` added below node `after`. `text` is TOML or a chain. Sets
/// `first` to the id of the first new node. Throws Error(invalid_config) if the text contains no valid nodes.
GraphDesc with_pasted(const GraphDesc& graph, const std::string& text, const std::string& after,
                      const Registry& registry, std::string& first);

}  // namespace lensd::ui
