#include "ui/panel.hpp"

namespace lensd::ui {

bool draw_setting_label(PanelContext& ctx, const SettingLabel& label) {
  constexpr float kSide = 16;
  const float side = ctx.px(kSide);
  ImGui::AlignTextToFramePadding();
  text_coloured(label.ink, elided(label.text, ImGui::GetContentRegionAvail().x - (label.changed ? side : 0)));
  if (tooltip_due()) tooltip(ctx.look, label.explanation());
  if (!label.changed) return false;
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - side);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (ImGui::GetFrameHeight() - side) * 0.5f);
  const bool reset = small_button(ctx.look, "##reset", Icon::undo, kSide, colour::faint);
  if (ctx.rects)
    ctx.mark(label.group, label.name, label.part.empty() ? "reset" : fmt::format("{}/reset", label.part));
  if (tooltip_due()) tooltip(ctx.look, "Back to the default, " + label.initial());
  return reset;
}

}  // namespace lensd::ui
