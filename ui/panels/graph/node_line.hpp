// A node's line in the graph panel: switch, name, time and actions.
#pragma once

#include "ui/panel.hpp"

namespace lensd::ui {

/// Arguments of draw_node_line().
struct NodeLine {
  const ShownGraph& shown;
  const NodeView& node;
  const NodeDesc& desc;
  int number;  ///< number of the node, from 1
  ImVec2 at;   ///< top left corner; ImGui units
  float width, height;
  bool hovered;
};

/// Returns the node's description, output format and statistics. `number` is 0 for automatic nodes.
std::string node_tooltip(const PanelContext& ctx, const NodeView& node, int number);

/// Draws the line. Returns true if the node's parameters are unfolded.
bool draw_node_line(PanelContext& ctx, const NodeLine& row);

}  // namespace lensd::ui
