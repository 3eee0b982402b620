#include "ui/panels/graph_node_line.hpp"

#include <algorithm>

#include "ui/model/graph_edit.hpp"

namespace lensd::ui {
namespace {

constexpr float kButton = 20, kChevron = 18;  // logical pixels

/// What the pipeline tells about a node; null before it has planned it.
const NodeView* planned(const ViewerModel& model, const std::string& id) {
  for (const NodeView& node : model.nodes)
    if (node.id == id) return &node;
  return nullptr;
}

/// A node that is on and yet not planned: nothing that leads to the output reads it.
bool unused(const PanelContext& ctx, const NodeView& node) {
  const NodeView* view = planned(ctx.model, node.id);
  return view && view->enabled && node.enabled && view->format.empty() && ctx.editor().solo().empty() &&
         ctx.model.picture.width > 0;
}

/// Medians of the node's passes together; 0: not measured.
int64_t p50_of(const PanelContext& ctx, const std::string& id) {
  int64_t sum = 0;
  for (const PassStats& row : ctx.state.timings)
    if (row.node == id && row.samples > 0) sum += row.p50_ns;
  return sum;
}

void node_menu(PanelContext& ctx, const NodeLine& row) {
  GraphEditor& editor = ctx.editor();
  const std::string& id = row.node.id;
  const auto item = [&](const char* text, const char* key, bool enabled, const char* name) {
    const bool chosen = ImGui::MenuItem(text, key, false, enabled);
    ctx.mark("graph", id, fmt::format("menu/{}", name));
    return chosen;
  };
  const size_t at = static_cast<size_t>(row.number - 1), count = row.shown.nodes.size();
  const bool soloed = editor.solo() == id;
  if (item(soloed ? "Show the whole graph" : "Solo: show up to here", nullptr, true, "solo"))
    return editor.toggle_solo(id);
  if (item("Rename…", nullptr, true, "rename")) {
    ctx.state.graph.renamed = ctx.state.graph.new_name = id, ctx.state.graph.rename_fresh = true;
    return;
  }
  if (item("Duplicate", "Ctrl+d", true, "duplicate")) {
    ctx.state.graph.selected = editor.duplicate(id);
    return;
  }
  if (item("Reset all parameters", nullptr, !row.node.values.empty(), "reset"))
    return editor.reset_params(id);
  if (item("Move up", nullptr, at > 0, "up")) return editor.move(id, at - 1);
  if (item("Move down", nullptr, at + 1 < count, "down")) return editor.move(id, at + 1);
  if (ImGui::BeginMenu("Reads")) {
    for (const std::string& input : possible_inputs(row.shown.graph, id))
      if (ImGui::MenuItem(input.c_str(), nullptr, row.desc.inputs.front() == input))
        editor.set_input(id, 0, input);
    ImGui::EndMenu();
  }
  const bool is_output = row.shown.graph.output == id;
  if (item("Make it the graph's output", nullptr, !is_output, "output")) return editor.set_output(id);
  ImGui::Separator();
  if (item("Fold all nodes", nullptr, count > 1, "fold_all")) ctx.state.graph.fold_next = -1;
  if (item("Unfold all nodes", nullptr, count > 1, "unfold_all")) ctx.state.graph.fold_next = 1;
  ImGui::Separator();
  if (item("Remove", "Del", true, "remove")) editor.remove(id);
}

void solo_button(PanelContext& ctx, const NodeLine& row) {
  const bool soloed = ctx.editor().solo() == row.node.id;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = ctx.px(kButton);
  if (ImGui::InvisibleButton("##solo", {side, side})) ctx.editor().toggle_solo(row.node.id);
  ctx.mark("graph", row.node.id, "solo");
  const bool hovered = ImGui::IsItemHovered();
  tooltip(ctx.look, soloed ? "Show the whole graph again" : "Solo: show the graph up to this node, for now");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered || soloed)
    list.AddRectFilled(at, {at.x + side, at.y + side}, soloed ? colour::accent : colour::gray(58), ctx.px(3));
  ImGui::PushFont(ctx.look.small);
  const ImVec2 size = ImGui::CalcTextSize("S");
  list.AddText({at.x + (side - size.x) * 0.5f, at.y + (side - size.y) * 0.5f},
               soloed    ? colour::gray(20)
               : hovered ? colour::text
                         : colour::dim,
               "S");
  ImGui::PopFont();
}

/// Solo, remove and the menu: there while the pointer is on the line, so that the panel stays calm.
void actions(PanelContext& ctx, const NodeLine& row) {
  const float y = row.at.y + (row.height - ctx.px(kButton)) * 0.5f;
  float x = row.at.x + row.width - ctx.px(kChevron + 3 * kButton);
  ImGui::SetCursorScreenPos({x, y});
  solo_button(ctx, row);
  ImGui::SetCursorScreenPos({x += ctx.px(kButton), y});
  const bool remove = small_button(ctx.look, "##remove", Icon::cross, kButton, colour::dim);
  ctx.mark("graph", row.node.id, "remove");
  tooltip(ctx.look, "Remove this node", "Del removes the selected one");
  ImGui::SetCursorScreenPos({x += ctx.px(kButton), y});
  if (small_button(ctx.look, "##more", Icon::dots, kButton, colour::dim)) ImGui::OpenPopup("##menu");
  ctx.mark("graph", row.node.id, "more");
  tooltip(ctx.look, "Solo, rename, duplicate, reset, move, remove");
  if (remove) ctx.editor().remove(row.node.id);
}

/// The name while it is being changed.
void rename_field(PanelContext& ctx, const NodeLine& row, float width) {
  GraphPanelState& g = ctx.state.graph;
  const bool entered = !g.rename_fresh && ctx.pressed(Key::enter);
  if (g.rename_fresh) ImGui::SetKeyboardFocusHere(), g.rename_fresh = false;
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(g.rename_tries);  // after a refusal another field, which selects its text
  input_text("##name", g.new_name, ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopID();
  ctx.mark("graph", row.node.id, "name");
  if (!entered && !ImGui::IsItemDeactivated()) return;
  const std::string id = std::exchange(g.renamed, {}), name = g.new_name;
  if (ctx.pressed(Key::escape)) return;
  const bool selected = g.selected == id;
  if (ctx.editor().rename(id, name)) {
    if (selected) g.selected = name;
  } else if (entered) {  // what was typed is mended, not typed anew
    g.renamed = id, g.rename_fresh = true, ++g.rename_tries;
  }
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
  // What stands behind the name as far as there is room: another name than the filter's, the role.
  std::string note = node.id != node.filter ? node.filter : "";
  const GraphDesc& graph = row.shown.graph;
  if (graph.output == node.id && node.id != graph.nodes.back().id)
    note += note.empty() ? "output" : ", output";
  const bool idle = unused(ctx, node);
  if (idle) note += note.empty() ? "unused" : ", unused";
  const float left = room - title_width - ctx.px(8);
  if (note.empty() || left < ctx.px(24)) return;
  ImGui::PushFont(ctx.look.small);
  const float dy =
      (ctx.look.text->FontSize - ctx.look.small->FontSize) * ImGui::GetIO().FontGlobalScale * 0.6f;
  list.AddText({x + title_width + ctx.px(8), y + dy}, styled(colour::dim), elided(note, left).c_str());
  if (idle && ctx.rects)
    (*ctx.rects)[fmt::format("graph/{}/unused", node.id)] = {x + title_width + ctx.px(8), y, left,
                                                             row.height};
  ImGui::PopFont();
}

/// What the node costs, at the line's right edge. Returns the width that it takes.
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

/// Pressing a name selects, moving it drags, a double click renames.
void title_pressed(PanelContext& ctx, const NodeView& node) {
  GraphPanelState& g = ctx.state.graph;
  if (ImGui::IsItemClicked(0)) g.selected = node.id;
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, ctx.px(5))) g.dragged = node.id;
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0))
    g.renamed = g.new_name = node.id, g.rename_fresh = true, g.dragged.clear();
}

}  // namespace

std::string node_tooltip(const PanelContext& ctx, const NodeView& node, int number) {
  std::string text = node.schema ? fmt::format("{}: {}", node.filter, node.schema->doc) : node.filter;
  if (const NodeView* view = planned(ctx.model, node.id)) {
    if (!view->format.empty()) text += fmt::format("\ngives {}", view->format);
    for (const Statistic& s : view->stats) text += fmt::format("\n{} {:g}", s.name, s.value);
  }
  if (node.automatic) return text + "\nadded by the plan";
  if (unused(ctx, node)) text += "\ntakes no part: nothing that leads to the output reads it";
  text += "\nDrag to move it, double click to rename it";
  if (number <= 9) text += fmt::format(", key {} switches it", number);
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
          row.number <= 9 ? fmt::format("key {}", row.number) : "");

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
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID("open");
  bool open = storage.GetBool(key, true);
  if (g.fold_now != 0) storage.SetBool(key, open = g.fold_now > 0);
  ImGui::SetCursorScreenPos({end.x - ctx.px(kChevron), row.at.y + (row.height - ctx.px(kChevron)) * 0.5f});
  if (small_button(ctx.look, "##fold", open ? Icon::chevron_down : Icon::chevron_right, kChevron,
                   colour::faint)) {
    storage.SetBool(key, open = !open);
    if (ImGui::GetIO().KeyShift) g.fold_next = open ? 1 : -1;
  }
  ctx.mark("graph", row.node.id, "fold");
  tooltip(ctx.look, open ? "Fold its parameters away" : "Show its parameters", "Shift+click: of all nodes");
  return open;
}

}  // namespace lensd::ui
