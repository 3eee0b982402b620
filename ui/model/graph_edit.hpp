// Changes of a graph's shape, as a person means them: the node that is added, moved or taken out stays wired
// between its neighbours. Plain functions on values; graphs are resolved() ones.
//
// A node that stands below another one works on its picture, and what read that picture reads the node's:
//
//   a ── c        b added below a        a ── b ── c
//   a ── c, a ── d   likewise            a ── b ── c, b ── d
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace lensd::ui {

/// A sentence why an edit cannot be; nothing was changed then.
using Refusal = std::optional<std::string>;

/// `wanted`, or with a number behind it where that is taken.
std::string fresh_id(const GraphDesc& graph, const std::string& wanted);

/// Adds a node below `after` ("source": on top). A filter that needs a second input gets the source there.
/// Returns its id.
std::string add_node(GraphDesc& graph, const FilterEntry& filter, const std::string& after);

/// Takes a node out: its readers read its first input.
void remove_node(GraphDesc& graph, const std::string& id);

/// A node like `id` right below it. Returns its id.
std::string duplicate_node(GraphDesc& graph, const std::string& id);

/// Moves a node to place `to`, counted without it. Refused where one of its other inputs would be below it.
Refusal move_node(GraphDesc& graph, const std::string& id, size_t to);

/// Gives a node another name; its readers follow.
Refusal rename_node(GraphDesc& graph, const std::string& id, const std::string& name);

/// What a node may read: the source and the nodes above.
std::vector<std::string> possible_inputs(const GraphDesc& graph, const std::string& id);

/// True where every node reads the one above and the last one is the output.
bool is_chain(const GraphDesc& graph);

}  // namespace lensd::ui
