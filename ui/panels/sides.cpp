#include "ui/panels/sides.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/keys.hpp"
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {
namespace {

constexpr float kBarHeight = 46, kStrip = 24;  // logical pixels
// With Fold::automatic, the left and right sides fold if the picture would be narrower than kMinPicture. The
// bottom folds if the window is lower than kMinHeight. Both are in logical pixels.
constexpr float kMinPicture = 360, kMinHeight = 200;
constexpr float kNarrowPicture = 160;  // minimum picture width between two open sides; logical pixels

constexpr ImGuiWindowFlags kFixed =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse;

bool is_open(Fold fold, bool room) {
  return fold == Fold::open || (fold == Fold::automatic && room);
}

void begin_side(const char* name, const Rect& r, ImGuiWindowFlags flags = kFixed) {
  ImGui::SetNextWindowPos({r.x, r.y});
  ImGui::SetNextWindowSize({r.w, r.h});
  ImGui::Begin(name, nullptr, flags);
}

/// Draws the border between a side and the picture: a line, and a grip that changes `width` (logical pixels).
void draw_grip(const PanelContext& ctx, const Rect& side, bool grows_right, float& width) {
  const float x = grows_right ? side.x + side.w : side.x, grip = ctx.px(6);
  const float line = grows_right ? x - 1 : x;
  ImGui::SetCursorScreenPos({grows_right ? x - grip : x, side.y});
  ImGui::InvisibleButton("##grip", {grip, side.h});
  const bool active = ImGui::IsItemActive();
  if (ImGui::IsItemHovered() || active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (active) {
    const float by = ImGui::GetIO().MouseDelta.x / ctx.look.scale;
    width = std::clamp(width + (grows_right ? by : -by), kMinSideWidth, kMaxSideWidth);
  }
  ImGui::GetWindowDrawList()->AddLine({line, side.y}, {line, side.y + side.h},
                                      active ? colour::accent : colour::gray(20));
}

void draw_strip(PanelContext& ctx, const char* id, const Rect& r, const char* name, Icon icon, Fold& fold) {
  const bool lying = r.w > r.h;
  const VarScope window_padding(ImGuiStyleVar_WindowPadding,
                                {lying ? (r.w - ctx.px(22)) * 0.5f : ctx.px(1), ctx.px(lying ? 1 : 10)});
  begin_side(id, r);
  if (icon_button(ctx.look, "##unfold", icon))
    fold = Fold::open, ctx.state.right_first = &fold == &ctx.state.right;
  ctx.item("panels", name, "Show this side");
  if (&fold == &ctx.state.left) {  // the folded left side keeps the button that opens a source
    if (small_button(ctx.look, "##open", Icon::folder, 22, colour::dim)) ctx.state.source.ask = true;
    ctx.item("source", "open", "Open a file, a camera, an address, the screen",
             key_hint(Action::open_source));
  }
  ImGui::End();
}

/// Begins a child window that scrolls. The scroll bar is in the side's margin, so that the content keeps its
/// width when the bar appears. `scrolls`: the bar was needed in the last frame.
void begin_scrolling(PanelContext& ctx, const char* id, bool scrolls) {
  if (!scrolls)
    for (const ImGuiCol which :
         {ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive})
      ImGui::PushStyleColor(which, colour::gray(0, 0));
  const float width = ImGui::GetContentRegionAvail().x + ImGui::GetStyle().ScrollbarSize + ctx.px(1);
  ImGui::BeginChild(id, {width, 0}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
  if (!scrolls) ImGui::PopStyleColor(3);
}

void end_scrolling(bool& scrolls) {
  scrolls = ImGui::GetScrollMaxY() > 0;
  ImGui::EndChild();
}

/// Scrolls to the end of a section that was opened since it was last drawn, because it may be below the
/// window. Not for sections that are open at the program's start.
void show_opened(const char* section, bool open) {
  constexpr int kStartFrames = 10;
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID id = ImGui::GetID(section);
  const bool before = storage.GetBool(id, ImGui::GetFrameCount() <= kStartFrames);
  if (open && !before) ImGui::SetScrollHereY(1);
  storage.SetBool(id, open);
}

/// Returns the time that the open scope adds to the graph, as text.
std::string scopes_note(const PanelContext& ctx) {
  const int64_t cost = ctx.state.scopes.open ? scope_cost_ns(ctx.state, false) : 0;
  return cost > 0 ? fmt::format("{} ms", ms_text(cost)) : std::string();
}

/// Shows which part of a side is visible, in its margin. Draws nothing if the whole side is visible.
void draw_scroll_mark(const PanelContext& ctx, const Rect& side) {
  const float hidden = ImGui::GetScrollMaxY(), x = side.x + side.w - ctx.px(10);
  if (hidden <= 0) return;
  const float scale = side.h / (side.h + hidden), top = side.y + ImGui::GetScrollY() * scale;
  ImGui::GetWindowDrawList()->AddRectFilled({x, top}, {x + ctx.px(3), top + side.h * scale}, colour::gray(64),
                                            ctx.px(1));
}

void draw_left(PanelContext& ctx, const Rect& side, ViewerRequests& requests) {
  // If the window is not high enough, the wheel scrolls this side to the graph.
  begin_side("##left", side, kFixed & ~ImGuiWindowFlags_NoScrollWithMouse);
  draw_source_row(ctx, requests);
  draw_fields(ctx);
  draw_playlist(ctx, requests);
  draw_camera_controls(ctx);
  draw_colour_settings(ctx);
  ImGui::Dummy({0, ctx.px(8)});
  heading(ctx.look, "Graph");
  draw_slots(ctx);
  ImGui::Dummy({0, ctx.px(2)});
  draw_graph_panel(ctx);
  draw_scroll_mark(ctx, side);
  // The grip must not add to the height that can be scrolled.
  ImGuiWindow& window = *ImGui::GetCurrentWindow();
  const ImVec2 end = window.DC.CursorMaxPos;
  draw_grip(ctx, side, true, ctx.state.left_width);
  window.DC.CursorMaxPos = end;
  ImGui::SetScrollX(0);
  ImGui::End();
}

void draw_right(PanelContext& ctx, const Rect& side, ViewerRequests& requests) {
  UiState& s = ctx.state;
  begin_side("##right", side);
  heading_before_button(ctx, "Timings");
  fold_button(ctx, Icon::chevron_right, "right", s.right);
  ImGui::Dummy({0, ctx.px(2)});
  begin_scrolling(ctx, "##numbers", s.numbers_scroll);
  draw_timings_panel(ctx, requests);
  section_heading(ctx,
                  {"Scopes", "scopes", "Fold the scopes; nothing is measured then", "Show the scopes",
                   key_hint(Action::scopes), scopes_note(ctx)},
                  s.scopes.open);
  if (s.scopes.open) draw_scopes_panel(ctx);
  show_opened("scopes", s.scopes.open);
  if (ctx.model.track_table()) {
    section_heading(ctx, {"Tracks", "tracks", "Fold the track statistics", "Show the track statistics"},
                    s.tracks.open);
    if (s.tracks.open) draw_tracks_panel(ctx);
    show_opened("tracks", s.tracks.open);
  }
  ImGui::Dummy({0, ctx.px(10)});
  heading(ctx.look, "Status");
  ImGui::Dummy({0, ctx.px(2)});
  draw_status_panel(ctx);
  end_scrolling(s.numbers_scroll);
  draw_grip(ctx, side, false, s.right_width);
  ImGui::End();
}

void draw_bottom(PanelContext& ctx, const Rect& side) {
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(12), ctx.px(8)});
  begin_side("##bottom", side);
  ImGui::GetWindowDrawList()->AddLine({side.x, side.y}, {side.x + side.w, side.y}, colour::gray(20));
  draw_transport_bar(ctx);
  ImGui::End();
}

}  // namespace

void draw_hidden_bottom(PanelContext& ctx) {
  const ImVec2 display = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const float bar = ctx.px(kBarHeight);
  const bool near = mouse.x >= 0 && mouse.x < display.x && mouse.y >= display.y - 1.6f * bar &&
                    mouse.y < display.y && display.y > 3 * bar;
  // A pressed mouse button neither opens nor closes the bar: dragging the picture does not open it, and
  // dragging in the bar does not close it. The same holds while a popup is open: the list of speeds is above
  // the bar.
  const bool keep = ImGui::IsMouseDown(0) ||
                    ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  ctx.state.bottom_peek = keep ? ctx.state.bottom_peek : near;
  if (ctx.state.bottom_peek) draw_bottom(ctx, {0, display.y - bar, display.x, bar});
}

void fold_button(PanelContext& ctx, Icon icon, const char* side, Fold& fold) {
  if (icon_button(ctx.look, "##fold", icon)) fold = Fold::folded;
  ctx.item("panels", fmt::format("fold_{}", side), "Fold this side", key_text(Action::panels) + " hides all");
}

SideLayout lay_out_sides(const UiState& state, const Look& look) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  SideLayout l;
  l.picture = {0, 0, display.x, display.y};
  const float strip = look.px(kStrip);
  const float left = look.px(state.left_width), right = look.px(state.right_width);
  // The right side folds first, because the graph on the left is more important than the timings.
  l.left_open = is_open(state.left, display.x - left - strip >= look.px(kMinPicture));
  l.right_open =
      is_open(state.right, display.x - (l.left_open ? left : strip) - right >= look.px(kMinPicture));
  // Without room for both, show the side that was opened last.
  if (l.left_open && l.right_open && display.x - left - right < look.px(kNarrowPicture))
    (state.right_first ? l.left_open : l.right_open) = false;
  const float left_width = l.left_open ? left : strip, right_width = l.right_open ? right : strip;
  l.bottom_open = is_open(state.bottom, display.y >= look.px(kMinHeight));
  if (!state.panels) return l;
  const float bar = std::floor(l.bottom_open ? look.px(kBarHeight) : strip);
  const float height = display.y - bar;
  l.left = {0, 0, std::floor(left_width), height};
  l.right = {display.x - std::floor(right_width), 0, std::floor(right_width), height};
  l.bottom = {0, height, display.x, bar};
  l.picture = {l.left.w, 0, std::max(display.x - l.left.w - l.right.w, 1.f), height};
  return l;
}

void draw_sides(PanelContext& ctx, const SideLayout& l, ViewerRequests& requests) {
  UiState& s = ctx.state;
  if (l.left_open)
    draw_left(ctx, l.left, requests);
  else
    draw_strip(ctx, "##left", l.left, "unfold_left", Icon::chevron_right, s.left);
  if (l.right_open)
    draw_right(ctx, l.right, requests);
  else
    draw_strip(ctx, "##right", l.right, "unfold_right", Icon::chevron_left, s.right);
  if (l.bottom_open)
    draw_bottom(ctx, l.bottom);
  else
    draw_strip(ctx, "##bottom", l.bottom, "unfold_bottom", Icon::chevron_up, s.bottom);
}

}  // namespace lensd::ui
