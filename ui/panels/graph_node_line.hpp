// A node's line in the graph panel: its switch, its name, what it costs, and what can be done with it.
#pragma once

#include "ui/panel.hpp"

namespace lensd::ui {

/// A node's line while it is drawn.
struct NodeLine {
  const ShownGraph& shown;
  const NodeView& node;
  const NodeDesc& desc;
  int number;  ///< from 1
  ImVec2 at;   ///< of the line's left top
  float width, height;
  bool hovered;
};

/// What the node does, gives and measures; `number` is 0 for those that the plan added.
std::string node_tooltip(const PanelContext& ctx, const NodeView& node, int number);

/// Draws the line; true when the node's parameters are unfolded.
bool draw_node_line(PanelContext& ctx, const NodeLine& row);

}  // namespace lensd::ui
