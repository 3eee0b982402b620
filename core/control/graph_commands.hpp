// Commands that read and change the graph's nodes and edges. They edit with core/graph/edit_shape.hpp, as the
// viewer does.
//
// Edits of nodes and edges start from the result of the previous edit (ControlTarget::edit_graph()), so that
// clients that edit at the same time do not undo each other's changes. graph_set() replaces the whole graph.
#pragma once

#include "core/control/commands.hpp"

namespace lensd {

void graph_get(CommandCall& call);
void graph_set(CommandCall& call);
void graph_output(CommandCall& call);
void node_add(CommandCall& call);
void node_duplicate(CommandCall& call);
void node_input(CommandCall& call);
void node_move(CommandCall& call);
void node_remove(CommandCall& call);
void node_rename(CommandCall& call);
void node_reset(CommandCall& call);

}  // namespace lensd
