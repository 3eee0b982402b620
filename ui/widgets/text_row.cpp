#include "ui/widgets/text_row.hpp"

#include "core/base/text/printable.hpp"
#include "ui/widgets/extra_glyphs.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {

bool text_row(const std::string& text, bool chosen, float width, ImU32 ink) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(text.c_str());
  const bool pressed = ImGui::Selectable("##row", chosen, 0, {width, 0});
  ImGui::PopID();
  ImGui::GetWindowDrawList()->AddText(at, toned(ink), elided(text, width).c_str());
  return pressed;
}

std::string label_text(std::string_view text) {
  std::string label = printable(text);
  for (size_t at = 0; (at = label.find("##", at)) != std::string::npos; ++at) label.insert(at + 1, 1, ' ');
  note_characters(label);
  return label;
}

}  // namespace lensd::ui
