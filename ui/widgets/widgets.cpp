#include "ui/widgets/widgets.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>
#if __has_include(<imgui_stdlib.h>)
#include <imgui_stdlib.h>
#else
#include <misc/cpp/imgui_stdlib.h>
#endif

#include <algorithm>
#include <cmath>

#include "core/base/clock.hpp"

namespace lensd::ui {
namespace {

void chevron(ImDrawList& list, ImVec2 c, float s, ImVec2 tip, ImU32 colour) {
  const ImVec2 side{tip.y, tip.x};  // perpendicular
  const ImVec2 a{c.x - tip.x * s * 0.5f + side.x * s, c.y - tip.y * s * 0.5f + side.y * s};
  const ImVec2 b{c.x - tip.x * s * 0.5f - side.x * s, c.y - tip.y * s * 0.5f - side.y * s};
  const ImVec2 points[] = {a, {c.x + tip.x * s * 0.5f, c.y + tip.y * s * 0.5f}, b};
  list.AddPolyline(points, 3, colour, 0, std::max(1.f, s * 0.38f));
}

/// A triangle that points right (`direction` 1) or left (-1), `s` from its centre to its sides.
void triangle(ImDrawList& list, ImVec2 c, float s, float direction, ImU32 colour) {
  const float d = direction * s;
  const ImVec2 a{c.x - d * 0.8f, c.y - s}, b{c.x + d, c.y}, e{c.x - d * 0.8f, c.y + s};
  direction > 0 ? list.AddTriangleFilled(a, b, e, colour) : list.AddTriangleFilled(e, b, a, colour);
}

void loop_arrow(ImDrawList& list, ImVec2 c, float s, ImU32 colour) {
  constexpr float kPi = 3.14159265f;
  list.PathArcTo(c, s, -0.35f * kPi, 1.35f * kPi, 24);
  list.PathStroke(colour, 0, std::max(1.f, s * 0.28f));
  const ImVec2 tip{c.x - s * 0.1f, c.y - s * 0.95f};
  list.AddTriangleFilled({tip.x, tip.y - s * 0.5f}, {tip.x + s * 0.65f, tip.y + s * 0.05f},
                         {tip.x, tip.y + s * 0.55f}, colour);
}

/// An arrow that turns back over the top, to the left; mirrored for the other way.
void turning_arrow(ImDrawList& list, ImVec2 c, float s, float direction, ImU32 colour) {
  constexpr float kPi = 3.14159265f;
  constexpr int kPoints = 20;
  ImVec2 points[kPoints];
  for (int i = 0; i < kPoints; ++i) {
    const float a = (-1.f + 1.45f * static_cast<float>(i) / (kPoints - 1)) * kPi;
    points[i] = {c.x + direction * s * 0.8f * std::cos(a), c.y + s * 0.1f + s * 0.8f * std::sin(a)};
  }
  list.AddPolyline(points, kPoints, colour, 0, std::max(1.f, s * 0.28f));
  const ImVec2 tip{points[0].x, points[0].y + s * 0.55f};
  const ImVec2 a{points[0].x - s * 0.55f, points[0].y - s * 0.15f}, b{points[0].x + s * 0.55f, a.y};
  list.AddTriangleFilled(a, b, tip, colour);
}

void tray(ImDrawList& list, ImVec2 c, float s, ImU32 colour) {
  const float line = std::max(1.f, s * 0.28f);
  list.AddLine({c.x, c.y - s}, {c.x, c.y + s * 0.2f}, colour, line);
  chevron(list, {c.x, c.y + s * 0.05f}, s * 0.55f, {0, 1}, colour);
  const ImVec2 points[] = {{c.x - s * 0.95f, c.y + s * 0.3f},
                           {c.x - s * 0.95f, c.y + s * 0.95f},
                           {c.x + s * 0.95f, c.y + s * 0.95f},
                           {c.x + s * 0.95f, c.y + s * 0.3f}};
  list.AddPolyline(points, 4, colour, 0, line);
}

void folder_shape(ImDrawList& list, ImVec2 c, float s, ImU32 colour) {
  const ImVec2 points[] = {{c.x - s, c.y + s * 0.75f},        {c.x - s, c.y - s * 0.75f},
                           {c.x - s * 0.2f, c.y - s * 0.75f}, {c.x + s * 0.1f, c.y - s * 0.4f},
                           {c.x + s, c.y - s * 0.4f},         {c.x + s, c.y + s * 0.75f}};
  list.AddPolyline(points, 6, colour, ImDrawFlags_Closed, std::max(1.f, s * 0.26f));
}

}  // namespace

void draw_icon(ImDrawList& list, ImVec2 c, float size, Icon icon, ImU32 colour) {
  const float s = size * 0.5f;
  switch (icon) {
    case Icon::play:
      triangle(list, {c.x + s * 0.1f, c.y}, s, 1, colour);
      break;
    case Icon::pause:
      list.AddRectFilled({c.x - s * 0.8f, c.y - s}, {c.x - s * 0.22f, c.y + s}, colour, 1);
      list.AddRectFilled({c.x + s * 0.22f, c.y - s}, {c.x + s * 0.8f, c.y + s}, colour, 1);
      break;
    case Icon::step_back:
      triangle(list, {c.x + s * 0.2f, c.y}, s * 0.85f, -1, colour);
      list.AddRectFilled({c.x - s * 0.95f, c.y - s * 0.85f}, {c.x - s * 0.65f, c.y + s * 0.85f}, colour);
      break;
    case Icon::step_forward:
      triangle(list, {c.x - s * 0.2f, c.y}, s * 0.85f, 1, colour);
      list.AddRectFilled({c.x + s * 0.65f, c.y - s * 0.85f}, {c.x + s * 0.95f, c.y + s * 0.85f}, colour);
      break;
    case Icon::chevron_left:
      chevron(list, c, s * 0.7f, {-1, 0}, colour);
      break;
    case Icon::chevron_right:
      chevron(list, c, s * 0.7f, {1, 0}, colour);
      break;
    case Icon::chevron_down:
      chevron(list, c, s * 0.7f, {0, 1}, colour);
      break;
    case Icon::chevron_up:
      chevron(list, c, s * 0.7f, {0, -1}, colour);
      break;
    case Icon::loop:
      loop_arrow(list, c, s * 0.85f, colour);
      break;
    case Icon::plus:
      list.AddLine({c.x, c.y - s * 0.8f}, {c.x, c.y + s * 0.8f}, colour, std::max(1.f, s * 0.3f));
      [[fallthrough]];
    case Icon::minus:
      list.AddLine({c.x - s * 0.8f, c.y}, {c.x + s * 0.8f, c.y}, colour, std::max(1.f, s * 0.3f));
      break;
    case Icon::cross:
      list.AddLine({c.x - s * 0.7f, c.y - s * 0.7f}, {c.x + s * 0.7f, c.y + s * 0.7f}, colour,
                   std::max(1.f, s * 0.3f));
      list.AddLine({c.x - s * 0.7f, c.y + s * 0.7f}, {c.x + s * 0.7f, c.y - s * 0.7f}, colour,
                   std::max(1.f, s * 0.3f));
      break;
    case Icon::dots:
      for (const float x : {-0.8f, 0.f, 0.8f})
        list.AddCircleFilled({c.x + x * s, c.y}, s * 0.24f, colour, 12);
      break;
    case Icon::save:
      tray(list, c, s, colour);
      break;
    case Icon::undo:
      turning_arrow(list, c, s, 1, colour);
      break;
    case Icon::redo:
      turning_arrow(list, c, s, -1, colour);
      break;
    case Icon::folder:
      folder_shape(list, c, s, colour);
      break;
  }
}

bool icon_button(const Look& look, const char* id, Icon icon, bool accent) {
  const bool small = icon >= Icon::chevron_left && icon <= Icon::chevron_up;
  const float side = small ? look.px(22) : look.px(30);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(id, {side, side});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered || active)
    list.AddRectFilled(at, {at.x + side, at.y + side}, active ? colour::gray(66) : colour::gray(50),
                       look.px(4));
  const ImU32 ink = accent    ? colour::accent
                    : hovered ? colour::text
                    : small   ? colour::dim
                              : colour::gray(200);
  draw_icon(list, {at.x + side * 0.5f, at.y + side * 0.5f}, side * 0.42f, icon, ink);
  return pressed;
}

bool small_button(const Look& look, const char* id, Icon icon, float side, ImU32 ink) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = look.px(side);
  const bool pressed = ImGui::InvisibleButton(id, {size, size});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered || active)
    list.AddRectFilled(at, {at.x + size, at.y + size}, active ? colour::gray(72) : colour::gray(58),
                       look.px(3));
  draw_icon(list, {at.x + size * 0.5f, at.y + size * 0.5f}, size * 0.48f, icon,
            styled(hovered ? colour::text : ink));
  return pressed;
}

bool input_text(const char* id, std::string& text, int flags, const char* hint) {
  return ImGui::InputTextWithHint(id, hint, &text, flags);
}

void heading(const Look& look, const char* text) {
  ImGui::PushFont(look.strong);
  ImGui::TextUnformatted(text);
  ImGui::PopFont();
}

void text_coloured(ImU32 ink, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

ImU32 state_colour(LiveState state) {
  switch (state) {
    case LiveState::playing:
      return colour::text;
    case LiveState::reconnecting:
      return colour::problem;
    default:
      return colour::accent;
  }
}

const char* state_word(LiveState state) {
  return state == LiveState::playing ? "live" : name(state);
}

void text_right(ImU32 ink, std::string_view text) {
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  const float room = ImGui::GetContentRegionAvail().x;
  if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  text_coloured(ink, text);
}

bool tooltip_due() {
  if (!ImGui::IsItemHovered() || ImGui::IsMouseDown(0)) return false;
  // A moment of rest first: tooltips under a passing pointer are noise. Plain text has no id and no timer.
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  if (g.HoveredId != 0 && g.HoveredIdTimer < 0.35f) return false;
  // Who has just used the control knows it, and wants to see what is below.
  return g.HoveredId == 0 || g.Time - g.IO.MouseClickedTime[0] >= static_cast<double>(g.HoveredIdTimer);
}

void tooltip(const Look& look, std::string_view text, std::string_view key) {
  if (!tooltip_due()) return;
  // Below the item where there is room, so that it covers neither the item nor what stands beside it.
  const ImVec2 display = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const float below = ImGui::GetItemRectMax().y + look.px(8);
  if (below - mouse.y < look.px(60) && below + look.px(110) < display.y && mouse.x + look.px(350) < display.x)
    ImGui::SetNextWindowPos({mouse.x, below});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {look.px(10), look.px(8)});
  ImGui::BeginTooltip();
  ImGui::PushFont(look.small);
  ImGui::PushTextWrapPos(look.px(320));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  if (!key.empty()) text_coloured(colour::dim, key);
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

std::string elided(std::string_view text, float width) {
  const char *begin = text.data(), *end = begin + text.size(), *cut = begin;
  if (ImGui::CalcTextSize(begin, end).x <= width) return std::string(text);
  const float room = width - ImGui::CalcTextSize("…").x;
  ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), std::max(room, 0.f), 0, begin, end, &cut);
  return std::string(begin, cut) + "…";
}

std::string elided_front(std::string_view text, float width) {
  const auto fits = [&](const std::string& s) { return ImGui::CalcTextSize(s.c_str()).x <= width; };
  std::string shorter(text);
  if (fits(shorter)) return shorter;
  while (!shorter.empty()) {
    do shorter.erase(0, 1);
    while (!shorter.empty() && (static_cast<unsigned char>(shorter.front()) & 0xC0) == 0x80);
    if (fits("…" + shorter)) break;
  }
  return "…" + shorter;
}

std::string elided_heading(const Look& look, std::string_view text, float width) {
  ImGui::PushFont(look.strong);
  std::string shorter = elided(text, width);
  ImGui::PopFont();
  return shorter;
}

std::string clock_text(int64_t ns, bool hours) {
  const int64_t ms = std::max<int64_t>(ns, 0) / 1'000'000, s = ms / 1000, m = s / 60;
  if (hours || m >= 60) return fmt::format("{}:{:02}:{:02}.{:03}", m / 60, m % 60, s % 60, ms % 1000);
  return fmt::format("{:02}:{:02}.{:03}", m, s % 60, ms % 1000);
}

std::string ms_text(int64_t ns) {
  const double ms = to_ms(ns);
  // Limits lie where rounding would bring a sixth character.
  return fmt::format("{:.{}f}", ms, ms < 9.9995 ? 3 : ms < 99.995 ? 2 : ms < 999.95 ? 1 : 0);
}

}  // namespace lensd::ui
