// Draws the control that suits a parameter's type. A slider is a filled field with the value inside, to show
// value, range and unit in one line of a narrow panel.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/text_row.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

using Change = std::optional<ParamValue>;

/// Returns the number of decimals that the range and the default need, so that 0.0001 is not shown as 0.000.
int decimals(const ParamSpec& spec) {
  const double span = spec.max - spec.min;
  int count = span > 200 ? 1 : span > 20 ? 2 : 3;
  if (const double* normal = std::get_if<double>(&spec.default_value))
    while (count < 9 && *normal != 0 && std::abs(*normal) < 0.999 * std::pow(0.1, count)) ++count;
  return count;
}

/// Returns true if the value needs an exponent, because its decimals would all be zero.
bool too_small(const ParamSpec& spec, double value) {
  return value != 0 && std::abs(value) < 0.5 * std::pow(0.1, decimals(spec));
}

std::string escaped(const std::string& text) {
  std::string format;
  for (const char c : text) format += c == '%' ? "%%" : std::string(1, c);
  return format;
}

/// Returns a printf format for ImGui: "%.2f px".
std::string slider_format(const ParamSpec& spec, double value) {
  const std::string unit = escaped(spec.unit);
  const std::string number = spec.type == ParamType::integer ? "%lld"
                             : too_small(spec, value)        ? "%.1e"
                                                             : fmt::format("%.{}f", decimals(spec));
  return unit.empty() ? number : number + " " + unit;
}

/// Returns the position of a value on ImGui's linear or logarithmic slider, 0 to 1.
double fraction(const ParamSpec& spec, double value) {
  if (spec.max <= spec.min) return 0;
  if (spec.widget != Widget::log_slider || spec.min < 0)
    return std::clamp((value - spec.min) / (spec.max - spec.min), 0.0, 1.0);
  const double tiny = spec.type == ParamType::integer ? 0.1 : std::pow(0.1, decimals(spec));
  const double low = std::max(spec.min, tiny);
  return std::clamp(std::log(std::max(value, low) / low) / std::log(spec.max / low), 0.0, 1.0);
}

/// Draws ImGui's slider with an invisible frame, over a field that is filled up to the value.
bool filled_slider(const Look& look, const ParamSpec& spec, ImGuiDataType type, void* value, const void* min,
                   const void* max, double shown) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::CalcItemWidth(), ImGui::GetFrameHeight()};
  const ImVec2 end{at.x + size.x, at.y + size.y};
  const ImGuiID id = ImGui::GetID("##value");
  const bool active = ImGui::GetActiveID() == id;
  const bool hovered = ImGui::IsMouseHoveringRect(at, end) && ImGui::IsWindowHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float round = look.px(3);
  const float fill = std::round(size.x * static_cast<float>(fraction(spec, shown)));
  list.AddRectFilled(at, end, styled(active || hovered ? colour::field_hover : colour::field), round);
  if (fill >= 1) {
    list.PushClipRect(at, {at.x + fill, end.y}, true);
    list.AddRectFilled(at, end, styled(active || hovered ? colour::gray(74) : colour::gray(64)), round);
    list.PopClipRect();
  }
  const float line = std::round(look.px(2));
  list.AddRectFilled({at.x, end.y - line}, {at.x + std::max(fill, line), end.y}, styled(colour::accent),
                     look.px(1));

  for (const ImGuiCol which : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
                               ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})
    ImGui::PushStyleColor(which, colour::gray(0, 0));
  ImGuiSliderFlags flags = ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput;
  if (spec.widget == Widget::log_slider) flags |= ImGuiSliderFlags_Logarithmic;
  // ImGui rounds and parses numbers with the format, so a word may replace the number only while the slider
  // is idle.
  const bool idle = !active && !(hovered && ImGui::IsMouseDown(0));
  const bool in_words = idle && shown == 0 && !spec.zero.empty();
  const std::string format = in_words ? escaped(spec.zero) : slider_format(spec, shown);
  const bool changed = ImGui::SliderScalar("##value", type, value, min, max, format.c_str(), flags);
  ImGui::PopStyleColor(5);
  return changed;
}

/// Returns true if a Ctrl+click on the control that is drawn next begins typing.
bool typing_begins() {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 end{at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()};
  const bool disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  return !disabled && ImGui::GetIO().KeyCtrl && ImGui::IsMouseClicked(0) &&
         ImGui::IsMouseHoveringRect(at, end) && ImGui::IsWindowHovered();
}

template <class T>
Change number_control(const Look& look, const ParamSpec& spec, const ParamValue& value, ImGuiDataType type) {
  const T before = std::get<T>(value), min = static_cast<T>(spec.min), max = static_cast<T>(spec.max);
  T v = before;
  if (!filled_slider(look, spec, type, &v, &min, &max, static_cast<double>(before))) return std::nullopt;
  if constexpr (std::is_integral_v<T>)
    if (spec.widget == Widget::odd_slider && v % 2 == 0) v += v < max ? 1 : -1;
  return v == before ? std::nullopt : Change(v);
}

/// Returns true if the choices are few and short enough to be shown side by side.
bool fits_in_segments(const ParamSpec& spec, float width, float padding) {
  if (spec.choices.size() > 4) return false;
  float needed = 0;
  for (const std::string& choice : spec.choices) needed += ImGui::CalcTextSize(choice.c_str()).x + padding;
  return needed <= width;
}

Change segments(const Look& look, const ParamSpec& spec, const std::string& current, float width,
                const MarkPart& mark) {
  Change change;
  const float height = ImGui::GetFrameHeight(), round = look.px(3);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, styled(colour::field), round);
  float names = 0;
  for (const std::string& choice : spec.choices) names += ImGui::CalcTextSize(choice.c_str()).x;
  const float room = (width - names) / static_cast<float>(spec.choices.size());
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (const std::string& choice : spec.choices) {
    if (&choice != &spec.choices.front()) ImGui::SameLine(0, 0);
    const float text = ImGui::CalcTextSize(choice.c_str()).x;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton(choice.c_str(), {text + room, height}) && choice != current) change = choice;
    if (mark) mark(choice);
    const bool chosen = choice == current, hovered = ImGui::IsItemHovered();
    const ImVec2 to{from.x + text + room, from.y + height};
    if (chosen || hovered)
      list.AddRectFilled(from, to, styled(chosen ? colour::gray(70) : colour::field_hover), round);
    if (chosen)
      list.AddRectFilled({from.x + round, to.y - look.px(2)}, {to.x - round, to.y}, styled(colour::accent));
    list.AddText({from.x + room * 0.5f, from.y + (height - ImGui::GetFontSize()) * 0.5f},
                 styled(chosen ? colour::text : colour::dim), choice.c_str());
  }
  ImGui::PopStyleVar();
  return change;
}

Change choice_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                      const MarkPart& mark) {
  Change change;
  const auto& current = std::get<std::string>(value);
  const float width = ImGui::CalcItemWidth();
  if (fits_in_segments(spec, width, look.px(10))) return segments(look, spec, current, width, mark);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {look.px(8), look.px(6)});
  if (begin_combo(look, "##value", current)) {
    for (const std::string& choice : spec.choices) {
      if (ImGui::Selectable(choice.c_str(), choice == current) && choice != current) change = choice;
      if (mark) mark(choice);
      if (choice == current) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
  }
  ImGui::PopStyleVar();
  return change;
}

/// Returns the new text when the field loses the focus or on Enter, not while typing. Escape cancels.
Change text_control(const ParamValue& value, TextEdit& edit) {
  const auto& before = std::get<std::string>(value);
  const ImGuiID id = ImGui::GetID("##value");
  const bool left = edit.left == id;
  std::string text = left ? edit.left_text : edit.id == id ? edit.text : before;
  const bool edited = input_text("##value", text);  // also true when Escape restores the old text
  if (left) {
    edit.left = 0;
    return edit.left_text == before ? std::nullopt : Change(edit.left_text);
  }
  if (ImGui::IsItemActive() || edited) begin_field(edit, id), edit.text = text;
  edit.drawn = edit.drawn || edit.id == id;
  if (!ImGui::IsItemDeactivated() || edit.id != id) return std::nullopt;
  edit.id = 0;
  return edit.text == before ? std::nullopt : Change(edit.text);
}

std::string explanation(const ParamSpec& spec) {
  std::string text = fmt::format("{}\n{}", spec.doc, spec.allowed());
  const std::string normal = shown_value(spec, spec.default_value);
  if (spec.type != ParamType::matrix) text += fmt::format(", default {}", normal.empty() ? "empty" : normal);
  return text;
}

bool is_slider(const ParamSpec& spec) {
  return spec.type == ParamType::integer || spec.type == ParamType::real;
}

const char* hint(const ParamSpec& spec) {
  return is_slider(spec)
             ? "Ctrl+click to type a number, Shift+wheel for fine steps, double or right click for the "
               "default"
             : "right click for the default";
}

}  // namespace

bool begin_combo(const Look& look, const char* id, const std::string& shown) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::CalcItemWidth(), height = ImGui::GetFrameHeight();
  const ImVec2 tip{at.x + width - look.px(10), at.y + height * 0.5f};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool open = ImGui::BeginCombo(id, label_text(shown).c_str(), ImGuiComboFlags_NoArrowButton);
  draw_icon(list, tip, look.px(8), Icon::chevron_down, styled(colour::dim));
  return open;
}

std::string shown_value(const ParamSpec& spec, const ParamValue& value) {
  if (!spec.zero.empty() && (value == ParamValue(int64_t{0}) || value == ParamValue(0.0))) return spec.zero;
  std::string text = to_string(value);
  if (const double* v = std::get_if<double>(&value))
    text = too_small(spec, *v) ? fmt::format("{:.1e}", *v) : fmt::format("{:.{}f}", *v, decimals(spec));
  return spec.unit.empty() ? text : text + " " + spec.unit;
}

ParamValue stepped(const ParamSpec& spec, const ParamValue& value, int steps) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    const int64_t step = spec.widget == Widget::odd_slider ? 2 : 1;
    const auto min = static_cast<int64_t>(spec.min), max = static_cast<int64_t>(spec.max);
    return std::clamp(*whole + steps * step, min, max);
  }
  const auto* number = std::get_if<double>(&value);
  if (!number) return value;
  const double finest = std::pow(10, -decimals(spec));
  const double wide =
      spec.widget == Widget::log_slider ? std::abs(*number) * 0.01 : (spec.max - spec.min) / 1000;
  const double step = std::max(finest, std::pow(10, std::floor(std::log10(std::max(wide, finest)))));
  // Round to multiples of the step, so that steps in both directions reach the same values.
  const double next = (std::round(*number / step) + steps) * step;
  return std::clamp(std::round(next / finest) * finest, spec.min, spec.max);
}

std::optional<ParamValue> param_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                        TextEdit& edit, const MarkPart& mark) {
  auto next = param_field(look, spec, value, edit, mark);
  ImGuiContext& g = *ImGui::GetCurrentContext();
  const ImGuiLastItemData field = g.LastItemData;  // callers query the field as the last item
  draw_refusal(edit, next.has_value(), mark);
  g.LastItemData = field;
  return next;
}

void draw_refusal(TextEdit& edit, bool settled, const MarkPart& mark) {
  if (edit.refused != ImGui::GetID("##value")) return;
  if (settled) edit.refused = 0, edit.refusal.clear();
  if (edit.refusal.empty()) return;
  wrapped_text(colour::problem, edit.refusal);
  if (mark) mark("refused");
}

std::optional<ParamValue> param_field(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                      TextEdit& edit, const MarkPart& mark) {
  ParamValue now;
  if (spec.check(value, now)) return std::nullopt;  // the value is not allowed
  Change change;
  const bool slider = is_slider(spec);
  const ImGuiID field = ImGui::GetID("##value");
  ImGui::BeginGroup();
  if (bool* on = std::get_if<bool>(&now)) {
    bool next = *on;
    if (ImGui::Checkbox("##value", &next)) change = next;
  } else if (slider && edit.number && edit.id == field) {
    change = typed_number(look, spec, now, edit);
  } else if (slider && typing_begins()) {
    // The slider itself would take the click as a drag to the pointer.
    begin_typing(edit, field, now);
    change = typed_number(look, spec, now, edit);
  } else if (slider) {
    change = spec.type == ParamType::integer ? number_control<int64_t>(look, spec, now, ImGuiDataType_S64)
                                             : number_control<double>(look, spec, now, ImGuiDataType_Double);
    if (edit.left == field) edit.left = 0, change = entered_number(spec, now, edit.left_text, field, edit);
  } else if (spec.type == ParamType::choice) {
    change = choice_control(look, spec, now, mark);
  } else if (spec.type == ParamType::text) {
    change = text_control(now, edit);
  } else {
    change = matrix_control(look, spec, std::get<Matrix>(now), mark);
  }
  ImGui::EndGroup();
  if (ImGui::IsItemHovered()) {
    // WantTextInput is one frame late.
    const bool typing = ImGui::GetIO().WantTextInput || (edit.number && edit.id == field);
    const ImGuiIO& io = ImGui::GetIO();
    const float wheel = io.MouseWheel + io.MouseWheelH;  // Shift swaps the wheel axes on some systems
    if (slider && !typing && io.KeyShift && wheel != 0) {
      change = stepped(spec, now, wheel > 0 ? 1 : -1);
    } else if (!typing && spec.type != ParamType::matrix &&
               (ImGui::IsMouseReleased(1) || (slider && ImGui::IsMouseDoubleClicked(0)))) {
      ImGui::ClearActiveID();  // end the drag that the double click has started
      change = spec.default_value;
    } else if (!typing) {
      tooltip(look, explanation(spec), hint(spec));
    }
  }
  ParamValue accepted;
  if (!change) return std::nullopt;
  if (spec.check(*change, accepted)) {
    edit.refused = field;
    edit.refusal = fmt::format("{} is not allowed: {}", to_string(*change), spec.allowed());
    return std::nullopt;
  }
  if (edit.refused == field) edit.refused = 0, edit.refusal.clear();
  return accepted == now ? std::nullopt : Change(accepted);
}

}  // namespace lensd::ui
