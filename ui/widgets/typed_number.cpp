// The text field that replaces a slider while the user types a number. ImGui's own field clamps and applies
// the number after every digit, so that 2000 in a range up to 1000 would silently become 2, 20, 200 and 1000.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/text/text.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

/// Returns the text without surrounding blanks, without the parameter's unit, and with points instead of
/// commas.
std::string bare_number(std::string_view typed, const std::string& unit) {
  std::string_view number = trimmed(typed);
  if (!unit.empty() && number.size() > unit.size() && number.ends_with(unit))
    number.remove_suffix(unit.size());
  std::string text(trimmed(number));
  std::ranges::replace(text, ',', '.');
  return text;
}

/// Shows the allowed range below the field.
void show_range(const Look& look, const ParamSpec& spec) {
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  ImGui::SetNextWindowPos({min.x, max.y + look.px(4)});
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {look.px(8), look.px(5)});
  ImGui::BeginTooltip();
  small_text(look, colour::dim, spec.allowed());
  ImGui::EndTooltip();
}

}  // namespace

void begin_field(TextEdit& edit, unsigned id) {
  if (edit.id == id) return;
  if (edit.id != 0) edit.left = edit.id, edit.left_text = std::move(edit.text);
  edit.id = id, edit.text.clear(), edit.number = false;
}

void begin_typing(TextEdit& edit, unsigned id, const ParamValue& value) {
  begin_field(edit, id);
  edit.text = to_string(value), edit.number = edit.focus = true;
  edit.refused = 0, edit.refusal.clear();
}

std::optional<ParamValue> typed_number(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                       TextEdit& edit) {
  edit.drawn = true;
  // With ImGui 1.90, a click focuses the new field, and a request in the same frame would take the focus away
  // in the next one. Older versions need the request.
  constexpr bool kClickFocuses = IMGUI_VERSION_NUM >= 19000;
  if (edit.focus && !(kClickFocuses && ImGui::IsMouseClicked(0))) ImGui::SetKeyboardFocusHere();
  ImGui::PushID("typed");
  input_text("##number", edit.text, ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopID();
  const bool active = ImGui::IsItemActive();
  if (active) show_range(look, spec);
  const bool focused = !edit.focus || active;  // a requested focus takes effect in the next frame
  edit.focus = edit.focus && !active;
  if (!edit.escaped && (!focused || (active && !edit.entered))) return std::nullopt;
  const unsigned id = std::exchange(edit.id, 0);
  edit.number = false;
  ImGui::ClearActiveID();
  return edit.escaped ? std::nullopt : entered_number(spec, value, edit.text, id, edit);
}

std::optional<ParamValue> entered_number(const ParamSpec& spec, const ParamValue& value,
                                         const std::string& entered, unsigned id, TextEdit& edit) {
  const std::string text = bare_number(entered, spec.unit);
  if (text == to_string(value)) return std::nullopt;
  ParamValue parsed;
  if (!spec.parse(text, parsed)) return parsed;
  edit.refused = id;
  edit.refusal = fmt::format("{} is not allowed: {}", text.empty() ? "An empty text" : text, spec.allowed());
  return std::nullopt;
}

}  // namespace lensd::ui
