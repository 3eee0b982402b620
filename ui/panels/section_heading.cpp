// Draws the headings of the sections of a side.
#include "ui/panel.hpp"

namespace lensd::ui {

void heading_before_button(PanelContext& ctx, const char* title) {
  heading(ctx.look, title);
  ImGui::SameLine();
  ImGui::SetCursorPos({ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ctx.px(20),
                       ImGui::GetCursorPosY() - ctx.px(2)});
}

void section_heading(PanelContext& ctx, const SectionHeading& section, bool& shown) {
  ImGui::Dummy({0, ctx.px(10)});
  heading_before_button(ctx, section.title);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushFont(ctx.look.small);
  const float note = ImGui::CalcTextSize(section.note.c_str()).x;
  ImGui::GetWindowDrawList()->AddText({at.x - ctx.px(8) - note, at.y + ctx.px(3)}, colour::dim,
                                      section.note.c_str());
  ImGui::PopFont();
  ImGui::PushID(section.name);
  if (icon_button(ctx.look, "##section", shown ? Icon::chevron_down : Icon::chevron_right)) shown = !shown;
  ImGui::PopID();
  ctx.mark(section.name, "fold");
  tooltip(ctx.look, shown ? section.hide : section.show, section.key);
}

}  // namespace lensd::ui
