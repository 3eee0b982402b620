#include "ui/panels/graph/node_line.hpp"

#include <algorithm>

#include "core/graph/edit_shape.hpp"
#include "ui/keys.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

constexpr float kButton = 20, kChevron = 18;  // logical pixels

/// Returns true if the node is enabled but not planned, because the output does not depend on it.
bool unused(const PanelContext& ctx, const NodeView& node) {
  const NodeView* view = ctx.model.find(node.id);
  return view && view->enabled && node.enabled && view->format.empty() && ctx.editor().solo().empty() &&
         ctx.model.picture.width > 0;
}

/// Returns true if the node's output is so small that this is probably a mistake.
bool tiny_output(const PanelContext& ctx, const NodeView& node) {
  const NodeView* view = ctx.model.find(node.id);
  return view && view->size.width > 0 && node.enabled &&
         std::min(view->size.width, view->size.height) < kTinySide;
}

/// Returns the sum of the medians of the node's passes in nanoseconds; 0: not measured.
int64_t p50_of(const PanelContext& ctx, const std::string& id) {
  int64_t sum = 0;
  for (const PassStats& row : ctx.state.timings)
    if (row.node == id && row.samples > 0) sum += row.p50_ns;
  return sum;
}

/// Shows the field for the node's name from the next frame on.
void begin_rename(GraphPanelState& g, const std::string& id) {
  g.renamed = g.new_name = id;
  g.focus_rename = g.rename_drawn = true;
}

void node_menu(PanelContext& ctx, const NodeLine& row) {
  GraphEditor& editor = ctx.editor();
  const std::string& id = row.node.id;
  const auto item = [&](const char* text, const std::string& key, bool enabled, const char* name) {
    const bool chosen = ImGui::MenuItem(text, key.c_str(), false, enabled);
    ctx.mark("graph", id, fmt::format("menu/{}", name));
    return chosen;
  };
  const size_t at = static_cast<size_t>(row.number - 1), count = row.shown.nodes.size();
  const bool soloed = editor.solo() == id;
  if (item(soloed ? "Show the whole graph" : "Solo: show up to here", "", true, "solo"))
    return editor.toggle_solo(id);
  if (item("Rename…", "", true, "rename")) {
    begin_rename(ctx.state.graph, id);
    return;
  }
  if (item("Duplicate", key_text(Action::duplicate_node), true, "duplicate")) {
    if (const std::string copy = editor.duplicate(id); !copy.empty()) ctx.state.graph.select_new(copy);
    return;
  }
  if (item("Copy as text", key_text(Action::copy_node), true, "copy")) return copy_node(ctx, id);
  if (item("Paste below", key_text(Action::paste_node), true, "paste")) {
    ctx.state.graph.selected = id;
    return paste_nodes(ctx);
  }
  if (item("Reset all parameters", key_text(Action::reset_node), !row.node.values.empty(), "reset"))
    return editor.reset_params(id);
  if (item("Move up", "", at > 0, "up")) return editor.move(id, at - 1);
  if (item("Move down", "", at + 1 < count, "down")) return editor.move(id, at + 1);
  if (ImGui::BeginMenu("Reads")) {
    for (const std::string& input : possible_inputs(row.shown.graph, id))
      if (ImGui::MenuItem(label_text(input).c_str(), nullptr, row.desc.inputs.front() == input))
        editor.set_input(id, 0, input);
    ImGui::EndMenu();
  }
  const bool is_output = row.shown.graph.output == id;
  if (item("Make it the graph's output", "", !is_output, "output")) return editor.set_output(id);
  ImGui::Separator();
  if (item("Fold all nodes", "", count > 1, "fold_all")) ctx.state.graph.fold_next = -1;
  if (item("Unfold all nodes", "", count > 1, "unfold_all")) ctx.state.graph.fold_next = 1;
  ImGui::Separator();
  if (item("Remove", key_text(Action::remove_node), true, "remove")) remove_from_list(ctx, id);
}

void solo_button(PanelContext& ctx, const NodeLine& row) {
  const bool soloed = ctx.editor().solo() == row.node.id;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = ctx.px(kButton);
  if (ImGui::InvisibleButton("##solo", {side, side})) ctx.editor().toggle_solo(row.node.id);
  ctx.mark("graph", row.node.id, "solo");
  const bool hovered = ImGui::IsItemHovered();
  tooltip(ctx.look,
          soloed ? "Show the whole graph again" : "Solo: show the graph up to this node temporarily");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered || soloed)
    list.AddRectFilled(at, {at.x + side, at.y + side}, soloed ? colour::accent : colour::gray(58), ctx.px(3));
  const FontScope font(ctx.look.small);
  const ImVec2 size = ImGui::CalcTextSize("S");
  list.AddText({at.x + (side - size.x) * 0.5f, at.y + (side - size.y) * 0.5f},
               soloed    ? colour::gray(20)
               : hovered ? colour::text
                         : colour::dim,
               "S");
}

void actions(PanelContext& ctx, const NodeLine& row) {
  const float y = row.at.y + (row.height - ctx.px(kButton)) * 0.5f;
  float x = row.at.x + row.width - ctx.px(kChevron + 3 * kButton);
  ImGui::SetCursorScreenPos({x, y});
  solo_button(ctx, row);
  ImGui::SetCursorScreenPos({x += ctx.px(kButton), y});
  const bool remove = small_button(ctx.look, "##remove", Icon::cross, kButton, colour::dim);
  ctx.mark("graph", row.node.id, "remove");
  tooltip(ctx.look, "Remove this node", key_hint(Action::remove_node) + " removes the selected one");
  ImGui::SetCursorScreenPos({x += ctx.px(kButton), y});
  if (small_button(ctx.look, "##more", Icon::dots, kButton, colour::dim)) ImGui::OpenPopup("##menu");
  ctx.mark("graph", row.node.id, "more");
  tooltip(ctx.look, "Solo, rename, duplicate, reset, move, remove");
  if (remove) remove_from_list(ctx, row.node.id);
}

void rename_field(PanelContext& ctx, const NodeLine& row, float width) {
  GraphPanelState& g = ctx.state.graph;
  g.rename_drawn = true;
  const bool entered = !g.focus_rename && ctx.pressed(Key::enter);
  if (g.focus_rename) ImGui::SetKeyboardFocusHere(), g.focus_rename = false;
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(g.rename_tries);  // after a refused name, a new id makes ImGui select the text again
  input_text("##name", g.new_name, ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopID();
  ctx.mark("graph", row.node.id, "name");
  const bool escaped = ctx.pressed(Key::escape);
  if (!entered && !escaped && !ImGui::IsItemDeactivated()) return;
  const std::string id = std::exchange(g.renamed, {}), name = g.new_name;
  if (escaped || ctx.editor().rename(id, name) || !entered) return;
  g.renamed = id, g.focus_rename = true, ++g.rename_tries;  // let the user edit the refused name
}

void draw_title(PanelContext& ctx, const NodeLine& row, float room) {
  const NodeView& node = row.node;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string& solo = ctx.editor().solo();
  const ImU32 ink = !node.enabled ? colour::faint : solo == node.id ? colour::accent : colour::text;
  const float x = ImGui::GetItemRectMin().x + ctx.px(2);
  const float y = row.at.y + (row.height - ImGui::GetFontSize()) * 0.5f;
  ImGui::PushFont(ctx.look.strong);
  const std::string title = elided(node.id, room);
  list.AddText({x, y}, styled(ink), title.c_str());
  const float title_width = ImGui::CalcTextSize(title.c_str()).x;
  ImGui::PopFont();
  // The note after the name lists the filter if the node has another name, "output" if the output is not the
  // last node, and "unused". For a tiny output, the note is only the output's format.
  std::string note = node.id != node.filter ? node.filter : "";
  const GraphDesc& graph = row.shown.graph;
  if (graph.output == node.id && node.id != graph.nodes.back().id)
    note += note.empty() ? "output" : ", output";
  const bool idle = unused(ctx, node);
  if (idle) note += note.empty() ? "unused" : ", unused";
  const bool tiny = tiny_output(ctx, node);
  if (tiny) note = ctx.model.find(node.id)->format;
  const float left = room - title_width - ctx.px(8);
  if (note.empty() || left < ctx.px(24)) return;
  ImGui::PushFont(ctx.look.small);
  const float dy =
      (ctx.look.text->FontSize - ctx.look.small->FontSize) * ImGui::GetIO().FontGlobalScale * 0.6f;
  list.AddText({x + title_width + ctx.px(8), y + dy}, styled(tiny ? colour::problem : colour::dim),
               elided(note, left).c_str());
  if (tiny && ctx.rects)
    (*ctx.rects)[fmt::format("graph/{}/tiny", node.id)] = {x + title_width + ctx.px(8), y, left, row.height};
  if (idle && ctx.rects)
    (*ctx.rects)[fmt::format("graph/{}/unused", node.id)] = {x + title_width + ctx.px(8), y, left,
                                                             row.height};
  ImGui::PopFont();
}

/// Draws the node's time at the line's right edge. Returns the text's width plus a margin, or 0 if there is
/// no time.
float draw_cost(PanelContext& ctx, const NodeLine& row) {
  const int64_t p50 = row.node.enabled ? p50_of(ctx, row.node.id) : 0;
  if (p50 == 0) return 0;
  ImGui::PushFont(ctx.look.small);
  const std::string text = ms_text(p50);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  ImGui::GetWindowDrawList()->AddText(
      {row.at.x + row.width - ctx.px(kChevron + 4) - size.x, row.at.y + (row.height - size.y) * 0.5f},
      styled(colour::dim), text.c_str());
  ImGui::PopFont();
  return size.x + ctx.px(8);
}

/// Handles the mouse on a node's name: a click selects, a drag moves, a double click renames.
void title_pressed(PanelContext& ctx, const NodeView& node) {
  GraphPanelState& g = ctx.state.graph;
  if (ImGui::IsItemClicked(0)) g.selected = node.id;
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, ctx.px(5))) g.dragged = node.id;
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) begin_rename(g, node.id), g.dragged.clear();
}

}  // namespace

std::string node_tooltip(const PanelContext& ctx, const NodeView& node, int number) {
  std::string text = node.schema ? fmt::format("{}: {}", node.filter, node.schema->doc) : node.filter;
  if (const NodeView* view = ctx.model.find(node.id)) {
    if (!view->format.empty()) text += fmt::format("\noutput {}", view->format);
    for (const Statistic& s : view->stats) text += fmt::format("\n{} {:g}", s.name, s.value);
  }
  if (node.automatic) return text + "\nadded automatically";
  if (tiny_output(ctx, node)) text += "\nvery small: check the node's size or rectangle";
  if (unused(ctx, node)) text += "\nunused: the output does not depend on it";
  text += "\nDrag to move it, double click to rename it";
  if (const std::string key = node_key_hint(number); !key.empty())
    text += fmt::format(", {} switches it", key);
  return text;
}

bool draw_node_line(PanelContext& ctx, const NodeLine& row) {
  GraphPanelState& g = ctx.state.graph;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{row.at.x + row.width, row.at.y + row.height};
  if (g.selected == row.node.id || g.dragged == row.node.id) {
    list.AddRectFilled({row.at.x - ctx.px(6), row.at.y - ctx.px(1)}, {end.x + ctx.px(4), end.y + ctx.px(1)},
                       colour::gray(47), ctx.px(3));
    list.AddRectFilled({row.at.x - ctx.px(6), row.at.y - ctx.px(1)},
                       {row.at.x - ctx.px(4), end.y + ctx.px(1)}, colour::accent);
  }
  bool enabled = row.node.enabled;
  if (ImGui::Checkbox("##enabled", &enabled)) ctx.editor().set_enabled(row.node.id, enabled);
  ctx.mark("graph", row.node.id, "enabled");
  tooltip(ctx.look, enabled ? "Switch off: its input passes through" : "Switch on",
          node_key_hint(row.number));

  const bool has_params = row.node.schema && !row.node.schema->params.empty();
  const float x = row.at.x + row.height + ctx.px(4);
  const bool with_actions = row.hovered && g.dragged.empty() && g.renamed != row.node.id;
  ImGui::SetCursorScreenPos({x, row.at.y});
  const float reserved = with_actions ? ctx.px(kChevron + 3 * kButton) : ctx.px(kChevron);
  const float width = std::max(end.x - reserved - x, ctx.px(20));
  if (g.renamed == row.node.id) {
    rename_field(ctx, row, width);
  } else {
    ImGui::InvisibleButton("##title", {width, row.height});
    ctx.mark("graph", row.node.id, "title");
    title_pressed(ctx, row.node);
    if (g.dragged.empty() && tooltip_due()) tooltip(ctx.look, node_tooltip(ctx, row.node, row.number));
    draw_title(ctx, row, width - (with_actions ? 0 : draw_cost(ctx, row)) - ctx.px(4));
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseReleased(1)) ImGui::OpenPopup("##menu");
  if (with_actions) actions(ctx, row);
  if (ImGui::BeginPopup("##menu")) {
    node_menu(ctx, row);
    ImGui::EndPopup();
  }
  if (!has_params) return false;
  bool open = !g.folded.contains(row.node.id);
  const auto fold = [&](bool now) {
    open = !now;
    if (now)
      g.folded.insert(row.node.id);
    else
      g.folded.erase(row.node.id);
  };
  if (g.fold_now != 0) fold(g.fold_now < 0);
  ImGui::SetCursorScreenPos({end.x - ctx.px(kChevron), row.at.y + (row.height - ctx.px(kChevron)) * 0.5f});
  if (small_button(ctx.look, "##fold", open ? Icon::chevron_down : Icon::chevron_right, kChevron,
                   colour::faint)) {
    fold(open);
    if (ImGui::GetIO().KeyShift) g.fold_next = open ? 1 : -1;
  }
  ctx.mark("graph", row.node.id, "fold");
  tooltip(ctx.look, open ? "Fold the parameters" : "Show the parameters", "Shift+click: all nodes");
  return open;
}

}  // namespace lensd::ui
