// One change of a graph's description, as the process thread makes it and as control foresees it.
#pragma once

#include <string>
#include <variant>

#include "core/pipeline/command.hpp"

namespace lensd {

/// Makes the change, or gives back what is wrong with it. Sets `needs_plan` where it takes more than a
/// parameter block; leaves it alone otherwise.
std::string change_graph(GraphDesc& graph, const std::variant<SetParam, SetEnabled>& change,
                         const Registry& registry, bool& needs_plan);

/// The same nodes with the same values, wherever they were written.
bool same_graph(const GraphDesc& a, const GraphDesc& b, const Registry& registry);

}  // namespace lensd
