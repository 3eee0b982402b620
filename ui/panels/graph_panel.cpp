// The graph as a column of nodes: a switch, the name, what the node gives, and its parameters.
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kLabelShare = 0.40f;

std::string node_tooltip(const NodeView& node, int number) {
  std::string text = node.schema ? fmt::format("{}: {}", node.filter, node.schema->doc) : node.filter;
  if (!node.format.empty()) text += fmt::format("\ngives {}", node.format);
  for (const Statistic& s : node.stats) text += fmt::format("\n{} {:g}", s.name, s.value);
  if (node.automatic) text += "\nadded by the plan";
  if (number >= 1 && number <= 9) text += fmt::format("\nkey {} switches it", number);
  return text;
}

void draw_param(PanelContext& ctx, const NodeView& node, const ParamSpec& spec, const ParamValue& value) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  const bool changed = !(value == spec.default_value);
  text_coloured(changed ? colour::text : colour::dim, elided(spec.name, ImGui::GetContentRegionAvail().x));
  tooltip(ctx.look, spec.doc);
  ImGui::TableNextColumn();
  ImGui::PushID(spec.name.c_str());
  ImGui::SetNextItemWidth(-1);
  if (auto next = param_control(ctx.look, spec, value, ctx.state.text_edit))
    ctx.send(SetParam{node.id, spec.name, std::move(*next)});
  ctx.mark("graph", node.id, spec.name);
  ImGui::PopID();
}

void draw_params(PanelContext& ctx, const NodeView& node) {
  ImGui::PushFont(ctx.look.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(3)});
  ImGui::BeginDisabled(!node.enabled);
  if (ImGui::BeginTable("params", 2, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, kLabelShare);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1 - kLabelShare);
    const size_t count = std::min(node.schema->params.size(), node.values.size());
    for (size_t i = 0; i < count; ++i) draw_param(ctx, node, node.schema->params[i], node.values[i]);
    ImGui::EndTable();
  }
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

/// The node's line; true when its parameters are unfolded.
bool draw_header(PanelContext& ctx, const NodeView& node, int number) {
  bool enabled = node.enabled;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(3), ctx.px(2)});
  if (ImGui::Checkbox("##enabled", &enabled)) ctx.send(SetEnabled{node.id, enabled});
  ctx.mark("graph", node.id, "enabled");
  tooltip(ctx.look, enabled ? "Switch off: its input passes through" : "Switch on",
          number <= 9 ? fmt::format("key {}", number) : "");
  ImGui::SameLine();

  const bool has_params = node.schema && !node.schema->params.empty();
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID("open");
  bool open = has_params && storage.GetBool(key, true);
  const float room = ImGui::GetContentRegionAvail().x, height = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton("##fold", {room, height}) && has_params) storage.SetBool(key, open = !open);
  const bool hovered = ImGui::IsItemHovered();
  ctx.mark("graph", node.id, "fold");
  tooltip(ctx.look, node_tooltip(node, number));

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = at.y + (height - ImGui::GetFontSize()) * 0.5f;
  ImGui::PushFont(ctx.look.strong);
  const float chevron_room = has_params ? ctx.px(18) : 0;
  const std::string title = elided(node.id, room - chevron_room);
  list.AddText({at.x, y}, node.enabled ? colour::text : colour::faint, title.c_str());
  const float title_width = ImGui::CalcTextSize(title.c_str()).x;
  ImGui::PopFont();
  if (node.id != node.filter) {
    ImGui::PushFont(ctx.look.small);
    const std::string filter = elided(node.filter, room - chevron_room - title_width - ctx.px(8));
    const float dy =
        (ctx.look.text->FontSize - ctx.look.small->FontSize) * ImGui::GetIO().FontGlobalScale * 0.6f;
    list.AddText({at.x + title_width + ctx.px(8), y + dy}, colour::dim, filter.c_str());
    ImGui::PopFont();
  }
  if (has_params)
    draw_icon(list, {at.x + room - ctx.px(6), at.y + height * 0.5f}, ctx.px(9),
              open ? Icon::chevron_down : Icon::chevron_right, hovered ? colour::text : colour::faint);
  ImGui::PopStyleVar();
  return open;
}

void draw_automatic(PanelContext& ctx, const NodeView& node) {
  ImGui::PushFont(ctx.look.small);
  text_coloured(colour::faint, fmt::format("{} · {}", node.id, node.format));
  ImGui::PopFont();
  tooltip(ctx.look, node_tooltip(node, 0));
}

}  // namespace

void draw_graph_panel(PanelContext& ctx) {
  int number = 0;
  for (const NodeView& node : ctx.model.nodes) {
    if (node.scope) continue;
    ImGui::PushID(node.id.c_str());
    if (node.automatic) {
      draw_automatic(ctx, node);
    } else {
      const bool open = draw_header(ctx, node, ++number);
      if (open) draw_params(ctx, node);
      ImGui::Dummy({0, ctx.px(open ? 6 : 1)});
    }
    ImGui::PopID();
  }
  if (number == 0) {
    ImGui::PushTextWrapPos(0);
    text_coloured(colour::dim, "No filters: the picture is shown as it was decoded.");
    ImGui::PopTextWrapPos();
  }
}

}  // namespace lensd::ui
