// Draws the settings of the conversion to display colours, for HDR and BT.601 sources.
#include "core/base/param.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kSettingShare = 0.40f;

/// Returns true if the setting has an effect on the source.
bool is_used(const ParamSpec& setting, const ColourSpec& source) {
  if (setting.name == "bt601") return is_bt601(source.primaries);
  if (setting.name == "peak") return source.transfer == Transfer::pq;
  return is_hdr(source.transfer);
}

std::string colour_summary(const ColourSpec& source) {
  if (source.transfer == Transfer::pq) return fmt::format("PQ, {} cd/m²", source.peak);
  if (source.transfer == Transfer::hlg) return "HLG";
  return source.primaries == Primaries::bt601_525 ? "BT.601, 525 lines" : "BT.601, 625 lines";
}

/// Draws the name, with a reset button if the value differs from the default. Returns true if the button was
/// clicked.
bool draw_setting_name(PanelContext& ctx, const ParamSpec& setting, bool changed) {
  return draw_setting_label(ctx, {.group = "colour",
                                  .name = setting.name,
                                  .text = setting.name,
                                  .ink = changed ? colour::text : colour::dim,
                                  .changed = changed,
                                  .explanation =
                                      [&] {
                                        return fmt::format("{}\ncolour.{}: {}, default {}", setting.doc,
                                                           setting.name, setting.allowed(),
                                                           to_string(setting.default_value));
                                      },
                                  .initial = [&] { return to_string(setting.default_value); }});
}

void draw_setting(PanelContext& ctx, const ParamSpec& setting) {
  const ParamValue value = setting.get(&ctx.model.colour);
  std::optional<ParamValue> next;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(setting.name.c_str());
  if (draw_setting_name(ctx, setting, value != setting.default_value)) next = setting.default_value;
  ImGui::TableNextColumn();
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  MarkPart mark;
  if (ctx.rects) mark = [&](std::string_view part) { ctx.mark("colour", setting.name, part); };
  if (auto given = param_control(ctx.look, setting, value, ctx.state.text_edit, mark))
    next = std::move(given);
  ctx.mark("colour", setting.name);
  if (next) draw_refusal(ctx.state.text_edit, true, {});
  ImGui::PopID();
  if (!next || *next == value) return;
  SetColour command{ctx.model.colour};
  setting.put(&command.settings, *next);
  ctx.send(command);
}

}  // namespace

void draw_colour_settings(PanelContext& ctx) {
  const ColourSpec& source = ctx.model.source_colour;
  if (!is_hdr(source.transfer) && !is_bt601(source.primaries)) return;
  bool& open = ctx.state.colour_open;
  section_heading(ctx,
                  {"Colour",
                   "colour",
                   "Fold the conversion of the source's colours",
                   "Show how the source's colours are converted",
                   {},
                   colour_summary(source)},
                  open);
  if (!open) return;
  const FontScope font(ctx.look.small);
  const VarScope frame_padding(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(3)});
  if (!ImGui::BeginTable("##colour", 2, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX))
    return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, kSettingShare);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1 - kSettingShare);
  for (const ParamSpec& setting : colour_schema().params)
    if (is_used(setting, source)) draw_setting(ctx, setting);
  ImGui::EndTable();
}

}  // namespace lensd::ui
