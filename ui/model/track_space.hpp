// Decides whether the tracks of a graph's output can be drawn over the picture of one of its nodes.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace lensd::ui {

/// Returns true if the tracks of the graph's output have the positions of picture `shown`, up to scaling.
/// False if a node that crops, mirrors, rotates or shifts pictures lies between the tracker and the picture,
/// or if there is no tracker. `shown`: a node or "source"; empty: the output.
bool tracks_fit(const GraphDesc& graph, const Registry& registry, const std::string& shown);

}  // namespace lensd::ui
