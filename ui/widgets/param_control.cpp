// One control for each kind of parameter. Sliders are drawn as a filled field with the value inside, so that
// a narrow panel shows value, range and unit in one line.
#include <fmt/format.h>
#include <imgui_internal.h>
#if __has_include(<imgui_stdlib.h>)
#include <imgui_stdlib.h>
#else
#include <misc/cpp/imgui_stdlib.h>
#endif

#include <algorithm>
#include <cmath>

#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

using Change = std::optional<ParamValue>;

/// As many as the range asks for, and as the default needs to show: 0.0001, not 0.000.
int decimals(const ParamSpec& spec) {
  const double span = spec.max - spec.min;
  int count = span > 200 ? 1 : span > 20 ? 2 : 3;
  if (const double* normal = std::get_if<double>(&spec.default_value))
    while (count < 9 && *normal != 0 && std::abs(*normal) < 0.999 * std::pow(0.1, count)) ++count;
  return count;
}

/// What would show as nothing is written with an exponent.
bool too_small(const ParamSpec& spec, double value) {
  return value != 0 && std::abs(value) < 0.5 * std::pow(0.1, decimals(spec));
}

/// Text as a printf format that shows it.
std::string escaped(const std::string& text) {
  std::string format;
  for (const char c : text) format += c == '%' ? "%%" : std::string(1, c);
  return format;
}

/// A printf format for ImGui: "%.2f px".
std::string slider_format(const ParamSpec& spec, double value) {
  const std::string unit = escaped(spec.unit);
  const std::string number = spec.type == ParamType::integer ? "%lld"
                             : too_small(spec, value)        ? "%.1e"
                                                             : fmt::format("%.{}f", decimals(spec));
  return unit.empty() ? number : number + " " + unit;
}

/// Where on the slider a value lies, 0 to 1, by the rule of ImGui's linear and logarithmic sliders.
double fraction(const ParamSpec& spec, double value) {
  if (spec.max <= spec.min) return 0;
  if (spec.widget != Widget::log_slider || spec.min < 0)
    return std::clamp((value - spec.min) / (spec.max - spec.min), 0.0, 1.0);
  const double tiny = spec.type == ParamType::integer ? 0.1 : std::pow(0.1, decimals(spec));
  const double low = std::max(spec.min, tiny);
  return std::clamp(std::log(std::max(value, low) / low) / std::log(spec.max / low), 0.0, 1.0);
}

/// ImGui's slider with nothing but its text, over a field that is filled up to the value.
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
    ImGui::PushStyleColor(which, active && ImGui::TempInputIsActive(id) ? colour::field : colour::gray(0, 0));
  ImGuiSliderFlags flags = ImGuiSliderFlags_AlwaysClamp;
  if (spec.widget == Widget::log_slider) flags |= ImGuiSliderFlags_Logarithmic;
  // ImGui reads numbers and rounds by the format: words in place of it only while it is not clicked or
  // dragged.
  const bool at_rest = !active && !(hovered && ImGui::IsMouseDown(0));
  const bool in_words = at_rest && shown == 0 && !spec.zero.empty();
  const std::string format = in_words ? escaped(spec.zero) : slider_format(spec, shown);
  const bool changed = ImGui::SliderScalar("##value", type, value, min, max, format.c_str(), flags);
  ImGui::PopStyleColor(5);
  return changed;
}

Change integer_control(const Look& look, const ParamSpec& spec, const ParamValue& value) {
  const int64_t before = std::get<int64_t>(value);
  int64_t v = before;
  const auto min = static_cast<int64_t>(spec.min), max = static_cast<int64_t>(spec.max);
  if (!filled_slider(look, spec, ImGuiDataType_S64, &v, &min, &max, static_cast<double>(before)))
    return std::nullopt;
  if (spec.widget == Widget::odd_slider && v % 2 == 0) v += v < max ? 1 : -1;
  return v == before ? std::nullopt : Change(v);
}

Change real_control(const Look& look, const ParamSpec& spec, const ParamValue& value) {
  const double before = std::get<double>(value);
  double v = before;
  if (!filled_slider(look, spec, ImGuiDataType_Double, &v, &spec.min, &spec.max, before) || v == before)
    return std::nullopt;
  return v;
}

/// Few short names stand side by side.
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

/// Committed when the field is left or on Enter: half-typed paths are nobody's wish. Escape takes it back.
Change text_control(const ParamValue& value, TextEdit& edit) {
  const auto& before = std::get<std::string>(value);
  const ImGuiID id = ImGui::GetID("##value");
  std::string text = edit.id == id ? edit.text : before;
  const bool edited =
      ImGui::InputText("##value", &text);  // true as well when Escape brings the old text back
  if (ImGui::IsItemActive() || edited) edit.id = id, edit.text = text;
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

const char* hint(const ParamSpec& spec) {
  const bool slider = spec.type == ParamType::integer || spec.type == ParamType::real;
  return slider ? "Ctrl+click types a number, Shift+wheel goes in fine steps, double or right click restores "
                  "the default"
                : "right click restores the default";
}

}  // namespace

bool begin_combo(const Look& look, const char* id, const std::string& shown) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::CalcItemWidth(), height = ImGui::GetFrameHeight();
  const ImVec2 tip{at.x + width - look.px(10), at.y + height * 0.5f};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool open = ImGui::BeginCombo(id, shown.c_str(), ImGuiComboFlags_NoArrowButton);
  draw_icon(list, tip, look.px(8), Icon::chevron_down, colour::dim);
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
  // On the step's grid, so that the way there and back ends where it began.
  const double next = (std::round(*number / step) + steps) * step;
  return std::clamp(std::round(next / finest) * finest, spec.min, spec.max);
}

std::optional<ParamValue> param_control(const Look& look, const ParamSpec& spec, const ParamValue& value,
                                        TextEdit& edit, const MarkPart& mark) {
  ParamValue now;
  if (spec.check(value, now)) return std::nullopt;  // a value of another type is not this parameter's
  Change change;
  ImGui::BeginGroup();
  switch (spec.type) {
    case ParamType::boolean: {
      bool on = std::get<bool>(now);
      if (ImGui::Checkbox("##value", &on)) change = on;
      break;
    }
    case ParamType::integer:
      change = integer_control(look, spec, now);
      break;
    case ParamType::real:
      change = real_control(look, spec, now);
      break;
    case ParamType::choice:
      change = choice_control(look, spec, now, mark);
      break;
    case ParamType::text:
      change = text_control(now, edit);
      break;
    case ParamType::matrix:
      change = matrix_control(look, spec, std::get<Matrix>(now), mark);
      break;
  }
  ImGui::EndGroup();
  if (ImGui::IsItemHovered()) {
    const bool slider = spec.type == ParamType::integer || spec.type == ParamType::real;
    const bool typing = ImGui::GetIO().WantTextInput;
    const ImGuiIO& io = ImGui::GetIO();
    const float wheel = io.MouseWheel + io.MouseWheelH;  // Shift turns the one into the other on some systems
    if (slider && !typing && io.KeyShift && wheel != 0) {
      change = stepped(spec, now, wheel > 0 ? 1 : -1);
    } else if (!typing && spec.type != ParamType::matrix &&
               (ImGui::IsMouseReleased(1) || (slider && ImGui::IsMouseDoubleClicked(0)))) {
      ImGui::ClearActiveID();  // a double click has also begun a drag
      change = spec.default_value;
    } else if (!typing) {
      tooltip(look, explanation(spec), hint(spec));
    }
  }
  ParamValue accepted;
  if (!change || spec.check(*change, accepted) || accepted == now) return std::nullopt;
  return accepted;
}

}  // namespace lensd::ui
