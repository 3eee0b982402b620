// Draws the graph as a list of nodes with their parameters. Dragging a node's name moves the node.
#include <imgui_internal.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "ui/model/node_text.hpp"
#include "ui/panels/graph/node_line.hpp"

namespace lensd::ui {
namespace {

/// Minimum height of the list in logical pixels. If the window is not high enough for it, the side scrolls.
constexpr float kLeastHeight = 60;

/// Returns the index of the node before which the dragged node would be inserted, or the number of nodes for
/// the end. Draws a line there.
size_t drop_place(PanelContext& ctx, const std::vector<Rect>& blocks) {
  const float y = ImGui::GetIO().MousePos.y;
  size_t place = 0;
  while (place < blocks.size() && y > blocks[place].y + blocks[place].h * 0.5f) ++place;
  const Rect& near = blocks[std::min(place, blocks.size() - 1)];
  // Keep the line inside the list: the first node is at the list's upper edge.
  const float line = std::max(place < blocks.size() ? near.y - ctx.px(3) : near.y + near.h + ctx.px(1),
                              ImGui::GetWindowPos().y + ctx.px(1));
  ImGui::GetWindowDrawList()->AddRectFilled({near.x - ctx.px(4), line - ctx.px(1)},
                                            {near.x + near.w, line + ctx.px(1)}, colour::accent, ctx.px(1));
  return place;
}

void scroll_while_dragging(PanelContext& ctx) {
  const float y = ImGui::GetIO().MousePos.y, top = ImGui::GetWindowPos().y, edge = ctx.px(28);
  const float by = ctx.px(6);
  if (y < top + edge) ImGui::SetScrollY(std::max(ImGui::GetScrollY() - by, 0.f));
  if (y > top + ImGui::GetWindowHeight() - edge)
    ImGui::SetScrollY(std::min(ImGui::GetScrollY() + by, ImGui::GetScrollMaxY()));
}

void draw_dragged(PanelContext& ctx) {
  const std::string& name = ctx.state.graph.dragged;
  const ImVec2 mouse = ImGui::GetIO().MousePos, size = ImGui::CalcTextSize(name.c_str());
  const ImVec2 at{mouse.x + ctx.px(12), mouse.y - size.y * 0.5f - ctx.px(3)};
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(at, {at.x + size.x + ctx.px(16), at.y + size.y + ctx.px(6)}, colour::gray(66, 235),
                     ctx.px(3));
  list.AddText({at.x + ctx.px(8), at.y + ctx.px(3)}, colour::text, name.c_str());
}

void handle_drag(PanelContext& ctx, const ShownGraph& shown, const std::vector<Rect>& blocks) {
  GraphPanelState& g = ctx.state.graph;
  if (g.dragged.empty()) return;
  const auto& nodes = shown.nodes;
  const auto from = static_cast<size_t>(std::ranges::find(nodes, g.dragged, &NodeView::id) - nodes.begin());
  if (ctx.pressed(Key::escape) || blocks.empty() || from == nodes.size() || blocks.size() != nodes.size()) {
    g.dragged.clear();
    ImGui::ClearActiveID();  // end the drag, although the mouse button is still down
    return;
  }
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  scroll_while_dragging(ctx);
  const size_t place = drop_place(ctx, blocks);
  draw_dragged(ctx);
  if (ImGui::IsMouseDown(0)) return;
  const std::string id = std::exchange(g.dragged, {});
  ctx.editor().move(id, place > from ? place - 1 : place);
}

void draw_automatic(PanelContext& ctx) {
  for (const NodeView& node : ctx.model.nodes) {
    if (!node.automatic || node.scope) continue;
    ImGui::PushID(node.id.c_str());
    small_text(ctx.look, colour::faint, fmt::format("{} · {}", node.id, node.format));
    if (tooltip_due()) tooltip(ctx.look, node_tooltip(ctx, node, 0));
    ImGui::PopID();
  }
}

/// Draws the nodes with their parameters. Returns the nodes' rectangles, for dragging.
std::vector<Rect> draw_nodes(PanelContext& ctx, const ShownGraph& shown) {
  std::vector<Rect> blocks;
  const bool over =
      ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem | ImGuiHoveredFlags_ChildWindows);
  bool after_solo = false;
  ctx.state.graph.fold_now = std::exchange(ctx.state.graph.fold_next, 0);
  for (size_t i = 0; i < shown.nodes.size(); ++i) {
    ImGui::PushID(shown.nodes[i].id.c_str());
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(3), ctx.px(2)});
    NodeLine row{.shown = shown,
                 .node = shown.nodes[i],
                 .desc = shown.graph.nodes[i],
                 .number = static_cast<int>(i) + 1,
                 .at = ImGui::GetCursorScreenPos(),
                 .width = ImGui::GetContentRegionAvail().x,
                 .height = ImGui::GetFrameHeight(),
                 .hovered = ImGui::IsPopupOpen("##menu")};
    const ImVec2 from{row.at.x, row.at.y - ctx.px(2)};
    row.hovered = row.hovered || (over && ImGui::IsMouseHoveringRect(
                                              from, {from.x + row.width, from.y + row.height + ctx.px(4)}));
    // Dim the nodes after the soloed one.
    const bool open = [&] {
      const DimScope dim(after_solo);
      const bool unfolded = draw_node_line(ctx, row);
      ImGui::SetCursorScreenPos({row.at.x, row.at.y + row.height + ctx.px(unfolded ? 4 : 0)});
      if (unfolded) draw_node_params(ctx, shown, i);
      return unfolded;
    }();
    ImGui::PopStyleVar();
    blocks.push_back({row.at.x, row.at.y, row.width, ImGui::GetCursorScreenPos().y - row.at.y});
    if (ctx.state.graph.scroll_to == row.node.id) {
      // Scroll to the node's end, unless that would hide its name.
      const bool fits = blocks.back().h < ImGui::GetWindowHeight() * 0.8f;
      fits ? ImGui::SetScrollHereY(0.8f) : ImGui::SetScrollFromPosY(row.at.y - ImGui::GetWindowPos().y, 0);
      ctx.state.graph.scroll_to.clear();
    }
    ImGui::Dummy({0, ctx.px(open ? 5 : 2)});
    ImGui::PopID();
    after_solo = after_solo || ctx.editor().solo() == row.node.id;
  }
  return blocks;
}

void draw_hint(PanelContext& ctx) {
  wrapped_text(colour::dim, "No filters: the picture is shown as decoded. Add one below, or open a preset.");
  if (!may_resume(ctx)) return;
  ImGui::Dummy({0, ctx.px(2)});
  if (ImGui::Button("Resume last graph", {ImGui::GetContentRegionAvail().x, 0})) resume_last_graph(ctx);
  ctx.mark("graph", "resume");
  if (tooltip_due()) tooltip(ctx.look, last_graph_text(ctx));
}

}  // namespace

void copy_node(PanelContext& ctx, const std::string& id) {
  if (!ctx.editor().registry()) return;
  try {
    const std::string text = node_text(ctx.editor().graph(), id, *ctx.editor().registry());
    if (text.empty()) return ctx.notify(false, "Select a node to copy it");
    ImGui::SetClipboardText(text.c_str());
    ctx.notify(false, "Copied " + id);
  } catch (const Error& e) {
    ctx.notify(true, e.what());
  }
}

void paste_nodes(PanelContext& ctx) {
  GraphEditor& editor = ctx.editor();
  if (!editor.registry()) return;
  const char* text = ImGui::GetClipboardText();  // null if the clipboard has no text, such as a picture
  const std::string& selected = ctx.state.graph.selected;
  const std::string after = editor.graph().find(selected)  ? selected
                            : editor.graph().nodes.empty() ? std::string(kSourceNode)
                                                           : editor.graph().output;
  try {
    std::string first;
    GraphDesc next = with_pasted(editor.graph(), text ? text : "", after, *editor.registry(), first);
    std::vector<std::string> added;
    for (const NodeDesc& node : next.nodes)
      if (!editor.graph().find(node.id)) added.push_back(node.id);
    if (!editor.replace(std::move(next), "paste " + first, editor.preset())) return;
    for (const std::string& id : added) ctx.state.graph.folded.erase(id);
    ctx.state.graph.select_new(first);
  } catch (const Error& e) {
    ctx.notify(true, fmt::format("cannot paste: {}", e.what()));
  }
}

void draw_graph_panel(PanelContext& ctx) {
  draw_preset_row(ctx);
  ImGui::Dummy({0, ctx.px(2)});
  // Place the button below the last node, or at the bottom of the side if the list is longer.
  const float button = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
  const float room = ImGui::GetContentRegionAvail().y - button;
  const float height =
      std::clamp(ctx.px(ctx.state.graph.nodes_height), ctx.px(20), std::max(room, ctx.px(kLeastHeight)));
  const float margin = ctx.px(6);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() - margin);
  ImGui::BeginChild("##nodes", {0, height});
  ImGui::Indent(margin);
  const float top = ImGui::GetCursorPosY();
  const auto shown = ctx.editor().shown();
  const std::vector<Rect> blocks = draw_nodes(ctx, *shown);
  draw_automatic(ctx);
  if (shown->nodes.empty()) draw_hint(ctx);
  handle_drag(ctx, *shown, blocks);
  ctx.state.graph.nodes_height = (ImGui::GetCursorPosY() - top) / ctx.look.scale;
  ImGui::EndChild();
  draw_add_filter(ctx);
}

}  // namespace lensd::ui
