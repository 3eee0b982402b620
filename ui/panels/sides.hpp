// Lays out and draws the window's sides: graph on the left, numbers on the right, transport bar below.
#pragma once

#include "ui/panel.hpp"

namespace lensd::ui {

struct SideLayout {
  bool left_open = false, right_open = false, bottom_open = false;
  Rect left, right, bottom, picture;  ///< ImGui units; sides are empty while the panels are hidden
};

SideLayout lay_out_sides(const UiState& state, const Look& look);
/// Draws the transport bar over the picture while the panels are hidden and the pointer is at the lower edge.
void draw_hidden_bottom(PanelContext& ctx);
void draw_sides(PanelContext& ctx, const SideLayout& layout, ViewerRequests& requests);

}  // namespace lensd::ui
