#include "ui/widgets/widgets.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>
#if __has_include(<imgui_stdlib.h>)
#include <imgui_stdlib.h>
#else
#include <misc/cpp/imgui_stdlib.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/text.hpp"
#include "ui/widgets/extra_glyphs.hpp"

namespace lensd::ui {
namespace {

void chevron(ImDrawList& list, ImVec2 c, float s, ImVec2 tip, ImU32 colour) {
  const ImVec2 side{tip.y, tip.x};  // perpendicular to the tip
  const ImVec2 a{c.x - tip.x * s * 0.5f + side.x * s, c.y - tip.y * s * 0.5f + side.y * s};
  const ImVec2 b{c.x - tip.x * s * 0.5f - side.x * s, c.y - tip.y * s * 0.5f - side.y * s};
  const ImVec2 points[] = {a, {c.x + tip.x * s * 0.5f, c.y + tip.y * s * 0.5f}, b};
  list.AddPolyline(points, 3, colour, 0, std::max(1.f, s * 0.38f));
}

/// Draws a triangle that points right (`direction` 1) or left (-1). `s`: half of its height.
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

/// Draws an arc with an arrowhead on the left (`direction` 1) or on the right (-1).
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

/// Draws a loudspeaker with two waves if `on`, else with a cross.
void speaker(ImDrawList& list, ImVec2 c, float s, bool on, ImU32 colour) {
  const float line = std::max(1.f, s * 0.22f);
  list.AddRectFilled({c.x - s, c.y - s * 0.38f}, {c.x - s * 0.5f, c.y + s * 0.38f}, colour);
  list.AddQuadFilled({c.x - s * 0.6f, c.y - s * 0.38f}, {c.x, c.y - s * 0.9f}, {c.x, c.y + s * 0.9f},
                     {c.x - s * 0.6f, c.y + s * 0.38f}, colour);
  if (!on) {
    const float x = c.x + s * 0.65f, d = s * 0.36f;
    list.AddLine({x - d, c.y - d}, {x + d, c.y + d}, colour, line);
    list.AddLine({x - d, c.y + d}, {x + d, c.y - d}, colour, line);
    return;
  }
  for (const float radius : {0.45f, 0.95f}) {
    list.PathArcTo(c, s * radius, -0.75f, 0.75f, 12);
    list.PathStroke(colour, 0, line);
  }
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
    case Icon::step_forward: {
      const float d = icon == Icon::step_forward ? 1.f : -1.f, bar = c.x + d * s * 0.8f;
      triangle(list, {c.x - d * s * 0.2f, c.y}, s * 0.85f, d, colour);
      list.AddRectFilled({bar - s * 0.15f, c.y - s * 0.85f}, {bar + s * 0.15f, c.y + s * 0.85f}, colour);
      break;
    }
    case Icon::chevron_left:
    case Icon::chevron_right:
    case Icon::chevron_down:
    case Icon::chevron_up: {
      const ImVec2 tips[] = {{-1, 0}, {1, 0}, {0, 1}, {0, -1}};
      chevron(list, c, s * 0.7f, tips[static_cast<int>(icon) - static_cast<int>(Icon::chevron_left)], colour);
      break;
    }
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
    case Icon::redo:
      turning_arrow(list, c, s, icon == Icon::undo ? 1.f : -1.f, colour);
      break;
    case Icon::folder:
      folder_shape(list, c, s, colour);
      break;
    case Icon::speaker:
    case Icon::speaker_off:
      speaker(list, c, s, icon == Icon::speaker, colour);
      break;
  }
}

namespace {

struct IconButtonStyle {
  float round, icon_share;           ///< corner radius in logical pixels; icon size / side
  ImU32 hovered_bg, active_bg, ink;  ///< ink: icon colour while not hovered
};

bool square_button(const Look& look, const char* id, Icon icon, float side, const IconButtonStyle& style,
                   bool keep_ink = false) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = look.px(side);
  const bool pressed = ImGui::InvisibleButton(id, {size, size});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered || active)
    list.AddRectFilled(at, {at.x + size, at.y + size}, active ? style.active_bg : style.hovered_bg,
                       look.px(style.round));
  draw_icon(list, {at.x + size * 0.5f, at.y + size * 0.5f}, size * style.icon_share, icon,
            styled(hovered && !keep_ink ? colour::text : style.ink));
  return pressed;
}

}  // namespace

bool icon_button(const Look& look, const char* id, Icon icon, bool accent) {
  const bool small = icon >= Icon::chevron_left && icon <= Icon::chevron_up;
  const ImU32 ink = accent ? colour::accent : small ? colour::dim : colour::gray(200);
  return square_button(look, id, icon, small ? 22 : 30, {4, 0.42f, colour::gray(50), colour::gray(66), ink},
                       accent);
}

bool small_button(const Look& look, const char* id, Icon icon, float side, ImU32 ink) {
  return square_button(look, id, icon, side, {3, 0.48f, colour::gray(58), colour::gray(72), ink});
}

bool toggle_button(const Look& look, const char* label, bool on, float width) {
  ImGui::PushStyleColor(ImGuiCol_Button, toned(on ? colour::gray(70) : colour::field));
  ImGui::PushStyleColor(ImGuiCol_Text, on ? colour::accent : toned(colour::dim));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {look.px(2), look.px(3)});
  ImGui::PushID(label);
  const bool pressed = ImGui::Button(elided(label, width - look.px(4)).c_str(), {width, 0});
  ImGui::PopID();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
  return pressed;
}

bool input_text(const char* id, std::string& text, int flags, const char* hint,
                ImGuiInputTextCallback callback, void* data) {
  note_characters(text);
  return ImGui::InputTextWithHint(id, hint, &text, flags, callback, data);
}

void place_popup(const Look& look, ImVec2 corner, float height) {
  const float margin = look.px(8), lowest = ImGui::GetIO().DisplaySize.y - margin - height;
  ImGui::SetNextWindowPos({corner.x, std::max(std::min(corner.y, lowest), margin)});
}

namespace {

constexpr int kDimText = 158;     ///< contrast 4.5 on greys up to 49, so also on dimmed fills
constexpr float kDimFill = 0.4f;  ///< factor for a fill's distance from the panel's grey
constexpr int kBrightest = 100;   ///< brighter greys are text
int dim_scopes = 0;               ///< number of active DimScopes; UI thread

constexpr std::array kDimmed{ImGuiCol_Text,          ImGuiCol_FrameBg,     ImGuiCol_FrameBgHovered,
                             ImGuiCol_FrameBgActive, ImGuiCol_Button,      ImGuiCol_ButtonHovered,
                             ImGuiCol_ButtonActive,  ImGuiCol_CheckMark,   ImGuiCol_Header,
                             ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive};

}  // namespace

ImU32 toned(ImU32 ink) {
  if (dim_scopes == 0 || ink == colour::problem) return ink;
  const int r = static_cast<int>(ink >> IM_COL32_R_SHIFT & 0xFF),
            g = static_cast<int>(ink >> IM_COL32_G_SHIFT & 0xFF);
  const int b = static_cast<int>(ink >> IM_COL32_B_SHIFT & 0xFF),
            a = static_cast<int>(ink >> IM_COL32_A_SHIFT & 0xFF);
  if (r != g || g != b) return IM_COL32(r, g, b, a / 2);
  const float panel = colour::panel & 0xFF, grey = static_cast<float>(r);
  return colour::gray(
      r > kBrightest ? std::min(r, kDimText) : static_cast<int>(panel + (grey - panel) * kDimFill), a);
}

ImU32 styled(ImU32 ink) {
  return ImGui::GetColorU32(toned(ink));
}

DimScope::DimScope(bool on) : on_(on) {
  if (!on_) return;
  ++dim_scopes;
  // Do not also dim disabled controls by their alpha.
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.f), ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1.f);
  for (const ImGuiCol which : kDimmed)
    ImGui::PushStyleColor(which, toned(ImGui::ColorConvertFloat4ToU32(ImGui::GetStyleColorVec4(which))));
}

DimScope::~DimScope() {
  if (!on_) return;
  --dim_scopes;
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(static_cast<int>(kDimmed.size()));
}

/// Cuts the text at 8000 bytes, because ImGui cannot draw more than 16383 characters at once.
static void draw_text(std::string_view whole) {
  const std::string text = printable(first_bytes(whole, 8000), Lines::keep);
  note_characters(text);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void heading(const Look& look, const char* text) {
  const FontScope font(look.strong);
  draw_text(text);
}

void text_coloured(ImU32 ink, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, toned(ink));
  draw_text(text);
  ImGui::PopStyleColor();
}

void small_text(const Look& look, ImU32 ink, std::string_view text) {
  const FontScope font(look.small);
  text_coloured(ink, text);
}

void wrapped_text(ImU32 ink, std::string_view text) {
  ImGui::PushTextWrapPos(0);
  text_coloured(ink, text);
  ImGui::PopTextWrapPos();
}

ImU32 state_colour(LiveState state) {
  return state == LiveState::playing        ? colour::text
         : state == LiveState::reconnecting ? colour::problem
                                            : colour::accent;
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

namespace {

/// Returns true while the pointer is within 4 units of the position of the last mouse press.
bool where_clicked() {
  constexpr float kNear = 4;
  const ImGuiIO& io = ImGui::GetIO();
  int last = 0;
  for (int button = 1; button < 3; ++button)
    if (io.MouseClickedTime[button] > io.MouseClickedTime[last]) last = button;
  const ImVec2 at = io.MouseClickedPos[last];
  return io.MouseClickedTime[last] > 0 && std::abs(io.MousePos.x - at.x) < kNear &&
         std::abs(io.MousePos.y - at.y) < kNear;
}

}  // namespace

bool tooltip_due() {
  if (!ImGui::IsItemHovered() || ImGui::IsAnyMouseDown()) return false;
  // Wait, to avoid tooltips under a moving pointer. Plain text has no id and so no timer.
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  if (g.HoveredId != 0 && g.HoveredIdTimer < 0.35f) return false;
  // A click hides the tooltip until the pointer moves, even if another item appears under the pointer. The
  // tooltip of an item under a left click stays hidden until the pointer has left the item.
  if (where_clicked()) return false;
  return g.HoveredId == 0 || g.Time - g.IO.MouseClickedTime[0] >= static_cast<double>(g.HoveredIdTimer);
}

void tooltip(const Look& look, std::string_view text, std::string_view key) {
  if (!tooltip_due()) return;
  // Place the tooltip below the item, or above it if there is no room, to cover neither the item nor its
  // neighbours.
  const ImVec2 display = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const float below = ImGui::GetItemRectMax().y + look.px(8), above = ImGui::GetItemRectMin().y - look.px(8);
  const float width = look.px(350), height = look.px(110);
  const float pivot = mouse.x + width < display.x ? 0.f : 1.f;
  if (pivot == 0 || mouse.x > width) {
    if (below - mouse.y < look.px(60) && below + height < display.y)
      ImGui::SetNextWindowPos({mouse.x, below}, ImGuiCond_Always, {pivot, 0});
    else if (mouse.y - above < look.px(60) && above > height)
      ImGui::SetNextWindowPos({mouse.x, above}, ImGuiCond_Always, {pivot, 1});
  }
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {look.px(10), look.px(8)});
  ImGui::BeginTooltip();
  ImGui::PushFont(look.small);
  ImGui::PushTextWrapPos(look.px(320));
  draw_text(text);
  if (!key.empty()) text_coloured(colour::dim, key);
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
}

std::string clock_text(int64_t ns, bool hours) {
  const int64_t ms = std::max<int64_t>(ns, 0) / 1'000'000, s = ms / 1000, m = s / 60;
  if (hours || m >= 60) return fmt::format("{}:{:02}:{:02}.{:03}", m / 60, m % 60, s % 60, ms % 1000);
  return fmt::format("{:02}:{:02}.{:03}", m, s % 60, ms % 1000);
}

std::string ms_text(int64_t ns) {
  const double ms = to_ms(ns);
  // From these limits on, rounding would add a sixth character.
  return fmt::format("{:.{}f}", ms, ms < 9.9995 ? 3 : ms < 99.995 ? 2 : ms < 999.95 ? 1 : 0);
}

std::string memory_text(size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string count_text(uint64_t count, const char* singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

}  // namespace lensd::ui
