// Draws a node's parameters: name, control, and a reset button if the value differs from the default.
#include <algorithm>

#include "core/base/contains.hpp"
#include "core/graph/edit_shape.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/panels/picture/edit_crop.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

constexpr float kLabelShare = 0.40f, kStepButton = 19;

bool begin_table(const char* id) {
  if (!ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX))
    return false;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, kLabelShare);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1 - kLabelShare);
  return true;
}

/// Draws the parameter's name, with a reset button if `changed`. Returns true if the button was clicked.
bool draw_label(PanelContext& ctx, const NodeView& node, const ParamSpec& spec, bool changed) {
  const auto initial = [&] { return shown_value(spec, spec.default_value); };
  return draw_setting_label(
      ctx,
      {.group = "graph",
       .name = node.id,
       .part = spec.name,
       .text = spec.name,
       .ink = changed ? colour::text : colour::dim,
       .changed = changed,
       .explanation = [&] { return fmt::format("{}\n{}, default {}", spec.doc, spec.allowed(), initial()); },
       .initial = initial});
}

std::optional<ParamValue> step_buttons(PanelContext& ctx, const NodeView& node, const ParamSpec& spec,
                                       const ParamValue& value) {
  int by = 0;
  ImGui::PushButtonRepeat(true);
  for (const int direction : {-1, 1}) {
    ImGui::SameLine(0, ctx.px(1));
    const float dy = (ImGui::GetFrameHeight() - ctx.px(kStepButton)) * 0.5f;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + dy);
    if (small_button(ctx.look, direction < 0 ? "##minus" : "##plus", direction < 0 ? Icon::minus : Icon::plus,
                     kStepButton, colour::dim))
      by = direction;
    ctx.mark("graph", node.id, spec.name + (direction < 0 ? "/minus" : "/plus"));
    tooltip(ctx.look, direction < 0 ? "One less" : "One more", "hold to repeat");
  }
  ImGui::PopButtonRepeat();
  const ParamValue next = by ? stepped(spec, value, by) : value;
  return next == value ? std::nullopt : std::optional(next);
}

/// Returns true for a choice among preset kernels, in which "custom" selects the matrix parameter.
bool is_kernel_choice(const ParamSpec& spec) {
  return spec.type == ParamType::choice && contains(spec.choices, "custom");
}

/// Returns the kernel choice that overrides the matrix because it is not "custom"; null if there is none.
const ParamSpec* choice_without_custom(const NodeView& node) {
  for (size_t i = 0; i < node.schema->params.size(); ++i) {
    const ParamSpec& spec = node.schema->params[i];
    if (is_kernel_choice(spec) && !(node.values[i] == ParamValue(std::string("custom")))) return &spec;
  }
  return nullptr;
}

/// Returns true for a parameter that kernel_text() overrides.
bool yields_to_text(const ParamSpec& spec) {
  return spec.type == ParamType::matrix || is_kernel_choice(spec);
}

/// Returns the text parameter that overrides the kernel choice and the matrix; null if there is none.
const ParamSpec* kernel_text(const NodeView& node) {
  const auto& params = node.schema->params;
  const auto kernel = [](const ParamSpec& spec) { return spec.type == ParamType::matrix; };
  if (std::ranges::none_of(params, kernel) || std::ranges::none_of(params, is_kernel_choice)) return nullptr;
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string* text = std::get_if<std::string>(&node.values[i]);
    // A text that contains "kernel" uses the matrix.
    if (params[i].type == ParamType::text && text && !text->empty() &&
        text->find("kernel") == std::string::npos)
      return &params[i];
  }
  return nullptr;
}

void change_param(PanelContext& ctx, const NodeView& node, const ParamSpec& spec, ParamValue value) {
  std::vector<std::pair<const ParamSpec*, ParamValue>> values{{&spec, std::move(value)}};
  if (const ParamSpec* text = yields_to_text(spec) ? kernel_text(node) : nullptr)
    values.emplace_back(text, std::string());
  if (const ParamSpec* choice = spec.type == ParamType::matrix ? choice_without_custom(node) : nullptr)
    values.emplace_back(choice, std::string("custom"));
  ctx.editor().set_params(node.id, std::move(values));
}

MarkPart mark_of(PanelContext& ctx, const NodeView& node, const ParamSpec& spec) {
  if (!ctx.rects) return {};
  return [&](std::string_view part) { ctx.mark("graph", node.id, fmt::format("{}/{}", spec.name, part)); };
}

std::optional<ParamValue> draw_control(PanelContext& ctx, const NodeView& node, const ParamSpec& spec,
                                       const ParamValue& value, float width) {
  const bool whole = spec.type == ParamType::integer;
  ImGui::SetNextItemWidth(whole ? width - ctx.px(2 * kStepButton + 2) : width);
  auto next = param_field(ctx.look, spec, value, ctx.state.text_edit, mark_of(ctx, node, spec));
  ctx.mark("graph", node.id, spec.name);
  if (next && ImGui::IsMouseDoubleClicked(0)) ctx.editor().join_click();
  if (whole)
    if (auto stepped_to = step_buttons(ctx, node, spec, value)) next = std::move(stepped_to);
  return next;
}

/// Returns `spec`. For x, y, width and height of a crop node, limits the maximum to the size of the node's
/// input.
ParamSpec in_picture(const PanelContext& ctx, const NodeView& node, const ParamSpec& spec,
                     const ParamValue& value) {
  if (spec.type != ParamType::integer || !has_rectangle(*node.schema)) return spec;
  return fitted(spec, value, output_size(ctx.model, input_of(ctx.editor().graph(), node.id)));
}

/// Draws the button that shows the rectangle on the picture, and the size of the result.
void draw_rectangle_row(PanelContext& ctx, const NodeView& node) {
  const bool on = ctx.state.crop.node == node.id && ctx.state.compare.mode == CompareMode::off;
  const float width = ImGui::GetContentRegionAvail().x;
  if (toggle_button(ctx.look, on ? "Done" : "Drag on the picture", on, width * 0.6f)) {
    ctx.state.crop = {};
    if (!on) edit_crop(ctx.state, node.id);
  }
  ctx.mark("graph", node.id, "on_picture");
  tooltip(ctx.look, "Show the node's input, and drag the rectangle's edges, corners or inside",
          key_hint(Action::crop));
  const NodeView* planned = ctx.model.find(node.id);
  if (!planned || planned->size.width < 1) return;
  const bool tiny = std::min(planned->size.width, planned->size.height) < kTinySide;
  ImGui::SameLine(0, ctx.px(8));
  ImGui::AlignTextToFramePadding();
  text_coloured(tiny ? colour::problem : colour::dim,
                fmt::format("{}×{}", planned->size.width, planned->size.height));
  ctx.mark("graph", node.id, "result");
  tooltip(ctx.look, "Size of the result");
}

/// Skips a row that is scrolled out of view: reserves its space and returns true. Returns false while any
/// item is active, because that item may be in the row.
bool out_of_sight() {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  if (ImGui::IsRectVisible(at, {at.x + 1, at.y + height}) || ImGui::IsAnyItemActive()) return false;
  ImGui::Dummy({1, height});
  return true;
}

/// Draws one parameter in the table's two columns. A matrix takes the panel's whole width.
void draw_param(PanelContext& ctx, const NodeView& node, const ParamSpec& spec, const ParamValue& value) {
  const bool matrix = spec.type == ParamType::matrix;
  if (!matrix) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (out_of_sight()) return;
  }
  ImGui::PushID(spec.name.c_str());
  std::optional<ParamValue> next;
  if (draw_label(ctx, node, spec, !(value == spec.default_value))) next = spec.default_value;
  if (!matrix) ImGui::TableNextColumn();
  // Dim a control whose value is overridden. change_param() removes the override when the user edits it.
  const bool counts =
      !(yields_to_text(spec) && kernel_text(node)) && !(matrix && choice_without_custom(node));
  const float width = ImGui::GetContentRegionAvail().x;
  {
    const DimScope dim(!counts);
    if (auto changed = draw_control(ctx, node, in_picture(ctx, node, spec, value), value, width))
      next = changed;
  }
  draw_refusal(ctx.state.text_edit, next.has_value(), mark_of(ctx, node, spec));
  ImGui::PopID();
  if (next) change_param(ctx, node, spec, std::move(*next));
}

void draw_input(PanelContext& ctx, const NodeView& node, const NodeDesc& desc, size_t n, bool optional,
                size_t inputs, std::vector<std::string> choices) {
  const std::string name = inputs > 1 ? fmt::format("input {}", n + 1) : "input";
  const std::string part = fmt::format("input{}", n + 1);
  const std::string none = "the frame before";
  const std::string now = n < desc.inputs.size() ? desc.inputs[n] : none;
  std::optional<std::string> chosen;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  text_coloured(colour::dim, name);
  tooltip(ctx.look, n == 0 ? "The node whose output this node reads"
                           : "The picture that is combined with the first one");
  ImGui::TableNextColumn();
  ImGui::PushID(part.c_str());
  ImGui::SetNextItemWidth(-1);
  const bool open = begin_combo(ctx.look, "##input", now);
  ctx.mark("graph", node.id, part);
  if (open) {
    if (optional) choices.push_back(none);
    for (const std::string& choice : choices) {
      if (ImGui::Selectable(label_text(choice).c_str(), choice == now)) chosen = choice;
      ctx.mark("graph", node.id, fmt::format("{}/{}", part, choice));
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  if (chosen && *chosen != now)
    ctx.editor().set_input(node.id, n, *chosen == none && optional ? "" : *chosen);
}

/// Draws the inputs if the filter can have several, or if the input is not the node above.
void draw_inputs(PanelContext& ctx, const ShownGraph& shown, const NodeView& node, const NodeDesc& desc) {
  const FilterEntry* entry = ctx.editor().registry()->find(node.filter);
  const auto choices = possible_inputs(shown.graph, node.id);
  const auto most = static_cast<size_t>(std::max(entry->max_inputs, 1));
  if ((most == 1 && desc.inputs.front() == choices.back()) || !begin_table("inputs")) return;
  for (size_t n = 0; n < most; ++n)
    draw_input(ctx, node, desc, n, n >= static_cast<size_t>(entry->min_inputs), most, choices);
  ImGui::EndTable();
}

}  // namespace

void draw_node_params(PanelContext& ctx, const ShownGraph& shown, size_t index) {
  const NodeView& node = shown.nodes[index];
  const FontScope font(ctx.look.small);
  const VarScope frame_padding(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(3)});
  ImGui::BeginDisabled(!node.enabled);
  draw_inputs(ctx, shown, node, shown.graph.nodes[index]);
  const auto& params = node.schema->params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].type == ParamType::matrix) {
      draw_param(ctx, node, params[i], node.values[i]);
    } else if (begin_table(params[i].name.c_str())) {
      draw_param(ctx, node, params[i], node.values[i]);
      while (i + 1 < params.size() && params[i + 1].type != ParamType::matrix)
        ++i, draw_param(ctx, node, params[i], node.values[i]);
      ImGui::EndTable();
    }
  }
  if (has_rectangle(*node.schema)) draw_rectangle_row(ctx, node);
  ImGui::EndDisabled();
}

}  // namespace lensd::ui
