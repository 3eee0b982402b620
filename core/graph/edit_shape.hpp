// Adds, moves and removes nodes of a graph, and rewires their neighbours. Plain functions on values; the
// graph must be resolved().
//
// An added node reads the output of the node above it. The former readers of that output read the added node:
//
//   a ── c             b added below a       a ── b ── c
//   a ── c, a ── d     b added below a       a ── b ── c, b ── d
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"

namespace lensd {

/// The reason why an edit is impossible; the graph is then unchanged. nullopt: the edit was made.
using EditProblem = std::optional<std::string>;

/// Adds a node below `after` ("source": at the top; an unknown node: at the end). Its inputs after the first
/// read the source. Returns the new node's id.
std::string add_node(GraphDesc& graph, const FilterEntry& filter, const std::string& after);

/// Removes a node. Its readers then read its first input.
void remove_node(GraphDesc& graph, const std::string& id);

/// Adds a copy directly below node `id`. The copy's first input is this node; the nodes that read this node
/// then read the copy. Returns the copy's id, or an empty string if there is no such node.
std::string duplicate_node(GraphDesc& graph, const std::string& id);

/// Moves a node to index `to`, counted in the list without that node. Fails if any of the node's inputs
/// except the first would then be below the node.
EditProblem move_node(GraphDesc& graph, const std::string& id, size_t to);

/// Renames a node and updates its readers' inputs and the graph's output. Fails if the name is empty, too
/// long or taken, or contains reserved characters.
EditProblem rename_node(GraphDesc& graph, const std::string& id, const std::string& name);

/// Returns the old and the new name of the node whose name is the only difference of the graphs. Returns
/// nullopt if there is no such node. Both graphs must be resolved().
std::optional<std::pair<std::string, std::string>> renamed_node(const GraphDesc& before,
                                                                const GraphDesc& after,
                                                                const Registry& registry);

/// Sets input `n` of a node. An empty `input` removes input `n` and all later inputs. Does nothing if there
/// is no such node or `n` exceeds the number of inputs.
void set_node_input(GraphDesc& graph, const std::string& id, size_t n, const std::string& input);

/// Replaces input `from` with `to` in all nodes and in the graph's output.
void redirect_readers(GraphDesc& graph, const std::string& from, const std::string& to);

/// Returns the possible inputs of a node: the source and the nodes above it.
std::vector<std::string> possible_inputs(const GraphDesc& graph, const std::string& id);

/// Returns true if both graphs have the same nodes (id, filter, inputs) in the same order and the same
/// output.
bool same_shape(const GraphDesc& a, const GraphDesc& b);

}  // namespace lensd
