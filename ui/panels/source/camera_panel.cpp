// Draws the controls of the camera that plays, grouped as the driver groups them.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kNameShare = 0.46f;
constexpr float kHeightShare = 0.42f;  ///< maximum share of the side's height for the controls
/// Limit of a slider: larger integers are not exact in the double that the slider uses.
constexpr int64_t kMaxExact = int64_t{1} << 53;

bool is_typed(const SourceControl& c) {
  return c.kind == ControlKind::text || c.kind == ControlKind::bitmask ||
         (c.kind == ControlKind::integer && (c.min < -kMaxExact || c.max > kMaxExact));
}

/// Describes the control as a parameter, so that param_control() can draw it.
ParamSpec spec_of(const SourceControl& c) {
  ParamSpec spec;
  spec.name = c.name, spec.doc = c.label, spec.default_value = c.initial;
  if (is_typed(c)) {
    spec.type = ParamType::text, spec.default_value = control_text(c, c.initial);
  } else if (c.kind == ControlKind::boolean) {
    spec.type = ParamType::boolean;
  } else if (c.kind == ControlKind::menu) {
    spec.type = ParamType::choice, spec.choices = c.choices;
  } else {
    spec.type = ParamType::integer;
    spec.min = static_cast<double>(c.min), spec.max = static_cast<double>(c.max);
  }
  return spec;
}

bool has_default(const SourceControl& c) {
  return c.kind != ControlKind::text && c.kind != ControlKind::button;
}

/// Returns why the control cannot be used now, or an empty string.
std::string obstacle(const SourceControl& c) {
  if (c.read_only) return "read-only";
  if (c.locked) return "cannot be set while the camera streams";
  return c.inactive ? "another control, such as an automatic mode, overrides it" : "";
}

std::string explanation(const SourceControl& c) {
  std::string text = fmt::format("{}\nsource.{}: {}", c.label, c.name, allowed_values(c));
  if (has_default(c)) text += ", default " + control_text(c, c.initial);
  if (const std::string why = obstacle(c); !why.empty()) text += "\n" + why;
  return text;
}

/// Returns an integer from a slider rounded to the control's step. Returns other values unchanged.
ParamValue on_step(const SourceControl& c, const ParamValue& value) {
  const auto* whole = std::get_if<int64_t>(&value);
  if (!whole || c.kind != ControlKind::integer || c.step <= 1 || is_typed(c)) return value;
  const int64_t last = c.min + (c.max - c.min) / c.step * c.step;
  return std::clamp(c.min + (*whole - c.min + c.step / 2) / c.step * c.step, c.min, last);
}

/// Draws the control's label, with a reset button if the value differs from the default. Returns true if the
/// button was clicked.
bool draw_label(PanelContext& ctx, const SourceControl& c) {
  const bool usable = obstacle(c).empty();
  const bool changed = usable && has_default(c) && c.value != c.initial;
  return draw_setting_label(ctx, {.group = "camera",
                                  .name = c.name,
                                  .text = c.label,
                                  .ink = !usable   ? colour::faint
                                         : changed ? colour::text
                                                   : colour::dim,
                                  .changed = changed,
                                  .explanation = [&] { return explanation(c); },
                                  .initial = [&] { return control_text(c, c.initial); }});
}

std::optional<ParamValue> draw_value(PanelContext& ctx, const SourceControl& c) {
  if (c.kind == ControlKind::button)
    return ImGui::Button("Press", {ImGui::GetContentRegionAvail().x, 0}) ? std::optional<ParamValue>(true)
                                                                         : std::nullopt;
  MarkPart mark;
  if (ctx.rects) mark = [&](std::string_view part) { ctx.mark("camera", c.name, part); };
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const ParamValue shown = is_typed(c) ? ParamValue(control_text(c, c.value)) : c.value;
  auto next = param_control(ctx.look, spec_of(c), shown, ctx.state.text_edit, mark);
  return next ? std::optional(on_step(c, *next)) : std::nullopt;
}

void draw_row(PanelContext& ctx, const SourceControl& c) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(c.name.c_str());
  if (draw_label(ctx, c)) {
    draw_refusal(ctx.state.text_edit, true, {});
    ctx.send(ResetSourceControls{{c.name}});
  }
  ImGui::TableNextColumn();
  const bool usable = obstacle(c).empty();
  ImGui::BeginDisabled(!usable);
  const auto next = draw_value(ctx, c);
  ctx.mark("camera", c.name);
  ImGui::EndDisabled();
  if (!usable && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) tooltip(ctx.look, explanation(c));
  if (next) {
    const CheckedControl checked = check_control(c, *next);
    if (!checked.problem.empty())
      ctx.notify(true, checked.problem);
    else if (checked.value != c.value || c.kind == ControlKind::button)
      ctx.send(SetSourceControls{{{c.name, checked.value}}});
  }
  ImGui::PopID();
}

void draw_rows(PanelContext& ctx, const std::vector<SourceControl>& list) {
  for (size_t i = 0; i < list.size();) {
    const std::string& group = list[i].group;
    if (!group.empty()) small_text(ctx.look, colour::faint, group);
    const bool visible = ImGui::BeginTable(fmt::format("##group{}", i).c_str(), 2,
                                           ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX);
    if (visible) {
      ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, kNameShare);
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1 - kNameShare);
    }
    for (; i < list.size() && list[i].group == group; ++i)
      if (visible) draw_row(ctx, list[i]);
    if (visible) ImGui::EndTable();
  }
}

/// Draws the button that saves the values to the graph's preset.
void draw_save(PanelContext& ctx) {
  const PresetFile* preset = ctx.state.presets.current(ctx.editor());
  const bool own = preset && !preset->example;
  ImGui::BeginDisabled(!own);
  const bool pressed = icon_button(ctx.look, "##save_camera", Icon::save);
  ctx.mark("camera", "save");
  ImGui::EndDisabled();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
    tooltip(ctx.look, own ? "Save the changed controls to the preset " + preset->name
                          : "Save the graph as a preset first");
  if (!pressed) return;
  try {
    ctx.state.presets.save_controls(values_to_save(*ctx.model.controls), ctx.editor());
    ctx.notify(false, "Saved the camera's controls to " + preset->path);
  } catch (const Error& e) {
    ctx.notify(true, e.what());
  }
}

void draw_heading(PanelContext& ctx) {
  CameraPanelState& state = ctx.state.camera;
  ImGui::Dummy({0, ctx.px(8)});
  heading(ctx.look, "Camera");
  ImGui::SameLine();
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  const float top = ImGui::GetCursorPosY() - ctx.px(2);
  if (state.open) {
    ImGui::SetCursorPos({right - ctx.px(68), top});
    draw_save(ctx);
    ImGui::SetCursorPos({right - ctx.px(44), top});
    if (icon_button(ctx.look, "##reset_camera", Icon::undo)) ctx.send(ResetSourceControls{});
    ctx.item("camera", "reset_all", "Set all controls to the driver's defaults");
  }
  ImGui::SetCursorPos({right - ctx.px(20), top});
  if (icon_button(ctx.look, "##camera", state.open ? Icon::chevron_down : Icon::chevron_right))
    state.open = !state.open;
  ctx.item("camera", "fold", state.open ? "Fold the camera's controls" : "Show the camera's controls");
}

}  // namespace

void draw_camera_controls(PanelContext& ctx) {
  const auto& controls = ctx.model.controls;
  if (!controls || controls->list.empty()) return;
  CameraPanelState& state = ctx.state.camera;
  draw_heading(ctx);
  if (!state.open) return;
  const FontScope font(ctx.look.small);
  const VarScope frame_padding(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(3)});
  const float most = std::floor(ImGui::GetWindowHeight() * kHeightShare);
  const float wanted = state.height > 0 ? ctx.px(state.height) : most;
  ImGui::BeginChild("##camera_controls", {0, std::min(wanted, most)}, false);
  const float top = ImGui::GetCursorPosY();
  draw_rows(ctx, controls->list);
  state.height = (ImGui::GetCursorPosY() - top) / ctx.look.scale;
  ImGui::EndChild();
}

}  // namespace lensd::ui
