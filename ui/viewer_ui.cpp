#include "ui/viewer_ui.hpp"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "core/base/clock.hpp"
#include "ui/panels/timings.hpp"

namespace lensd::ui {
namespace {

constexpr float kBarHeight = 46, kStrip = 24;             // logical pixels
constexpr float kLeastPicture = 360, kLeastHeight = 200;  // below these, sides fold by themselves
constexpr float kNarrowPicture = 160;                     // two sides that are open leave it at least
constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav;

bool open(Fold fold, bool room) {
  return fold == Fold::open || (fold == Fold::automatic && room);
}

void begin_side(const char* name, const Rect& r) {
  ImGui::SetNextWindowPos({r.x, r.y});
  ImGui::SetNextWindowSize({r.w, r.h});
  ImGui::Begin(name, nullptr, kFixed | ImGuiWindowFlags_NoScrollWithMouse);
}

/// The border between a side and the picture: a hairline, and a grip that changes `width` (logical pixels).
void draw_grip(const PanelContext& ctx, const Rect& side, bool grows_right, float& width) {
  const float x = grows_right ? side.x + side.w : side.x, grip = ctx.px(6);
  ImGui::SetCursorScreenPos({grows_right ? x - grip : x, side.y});
  ImGui::InvisibleButton("##grip", {grip, side.h});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemActive()) {
    const float by = ImGui::GetIO().MouseDelta.x / ctx.look.scale;
    width = std::clamp(width + (grows_right ? by : -by), 200.f, 560.f);
  }
  ImGui::GetWindowDrawList()->AddLine({grows_right ? x - 1 : x, side.y},
                                      {grows_right ? x - 1 : x, side.y + side.h},
                                      ImGui::IsItemActive() ? colour::accent : colour::gray(20));
}

void heading_with_fold(PanelContext& ctx, const char* title, const char* name, Icon icon, Fold& fold) {
  heading(ctx.look, title);
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ctx.px(20));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ctx.px(2));
  if (icon_button(ctx.look, "##fold", icon)) fold = Fold::folded;
  ctx.mark("panels", name);
  tooltip(ctx.look, "Fold this side away", "Tab hides all");
}

/// A folded side: a strip with the chevron that brings it back.
void draw_strip(PanelContext& ctx, const char* id, const Rect& r, const char* name, Icon icon, Fold& fold) {
  const bool lying = r.w > r.h;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                      {lying ? (r.w - ctx.px(22)) * 0.5f : ctx.px(1), ctx.px(lying ? 1 : 10)});
  begin_side(id, r);
  if (icon_button(ctx.look, "##unfold", icon))
    fold = Fold::open, ctx.state.right_first = &fold == &ctx.state.right;
  ctx.mark("panels", name);
  tooltip(ctx.look, "Show this side");
  if (&fold == &ctx.state.left) {  // the button that people look for first stays in reach
    if (small_button(ctx.look, "##open", Icon::folder, 22, colour::dim)) ask_for_source(ctx.state);
    ctx.mark("source", "open");
    tooltip(ctx.look, "Open a file, a camera, an address, the screen", "Ctrl+o");
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

/// The heading of a section that folds away by itself.
void section_heading(PanelContext& ctx, const char* title, const char* name, bool& shown, const char* hide,
                     const char* show, const char* key, const std::string& note = {}) {
  heading(ctx.look, title);
  ImGui::SameLine();
  if (!note.empty()) {
    ImGui::PushFont(ctx.look.small);
    const float width = ImGui::CalcTextSize(note.c_str()).x + ctx.px(28);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddText({at.x + ImGui::GetContentRegionAvail().x - width, at.y + ctx.px(1)},
                                        colour::dim, note.c_str());
    ImGui::PopFont();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ctx.px(20));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ctx.px(2));
  ImGui::PushID(name);
  if (icon_button(ctx.look, "##section", shown ? Icon::chevron_down : Icon::chevron_right)) shown = !shown;
  ImGui::PopID();
  ctx.mark(name, "fold");
  tooltip(ctx.look, shown ? hide : show, key);
}

/// A part that scrolls. Its bar stands in the side's margin, so that it takes no room from what is shown, and
/// numbers stay where they are when it comes and goes. `scrolls`: whether it did in the last frame.
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

/// What the open scope costs the graph.
std::string scopes_note(const PanelContext& ctx) {
  const int64_t cost = ctx.state.scopes.open ? scope_cost_ns(ctx.state, false) : 0;
  return cost > 0 ? fmt::format("{} ms", ms_text(cost)) : std::string();
}

/// Asks for what is shown of measurements, and for nothing while it is not to be seen.
void ask_for_taps(PanelContext& ctx, bool visible) {
  const ScopesState& s = ctx.state.scopes;
  const CompareState& c = ctx.state.compare;
  std::vector<ScopeRequest> wanted;
  if (visible && s.open) wanted.push_back({s.node, s.kind});
  if (c.mode != CompareMode::off) wanted.push_back({c.a, ScopeKind::compare, c.b});
  if (wanted != ctx.model.scopes) ctx.send(SetScopes{std::move(wanted)});
}

/// Asks for the pictures that are compared, probed, or shown while the graph is bypassed.
void ask_for_views(PanelContext& ctx) {
  const UiState& s = ctx.state;
  std::vector<std::string> wanted;
  const auto want = [&](const std::string& node) {
    if (!node.empty() && std::find(wanted.begin(), wanted.end(), node) == wanted.end())
      wanted.push_back(node);
  };
  if (s.compare.mode != CompareMode::off) want(s.compare.a), want(s.compare.b);
  if (s.probe.on) want(kSourceNode), want(s.scopes.node);
  if (s.bypass) want(kSourceNode);
  if (wanted != ctx.model.views) ctx.send(SetViews{std::move(wanted)});
}

/// Nodes that are compared may have gone with a change of the graph.
void drop_missing_nodes(PanelContext& ctx) {
  const auto missing = [&](const std::string& id) {
    return !id.empty() && id != kSourceNode &&
           std::none_of(ctx.model.nodes.begin(), ctx.model.nodes.end(),
                        [&](const NodeView& n) { return !n.automatic && n.id == id; });
  };
  CompareState& c = ctx.state.compare;
  if (missing(c.a)) c.a = kSourceNode;
  if (missing(c.b)) c.b.clear();
}

}  // namespace

struct ViewerUi::Layout {
  bool left_open = false, right_open = false, bottom_open = false;
  Rect left, right, bottom, picture;  // ImGui units
};

ViewerUi::Layout ViewerUi::lay_out(const Look& look) const {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  Layout l;
  l.picture = {0, 0, display.x, display.y};
  const float strip = look.px(kStrip);
  const float left = look.px(state_.left_width), right = look.px(state_.right_width);
  // The graph is what people came to tune, so the timings fold first.
  l.left_open = open(state_.left, display.x - left - strip >= look.px(kLeastPicture));
  l.right_open =
      open(state_.right, display.x - (l.left_open ? left : strip) - right >= look.px(kLeastPicture));
  // Asked for both, and no room for a picture between them: the one that was asked for last.
  if (l.left_open && l.right_open && display.x - left - right < look.px(kNarrowPicture))
    (state_.right_first ? l.left_open : l.right_open) = false;
  const float left_width = l.left_open ? left : strip, right_width = l.right_open ? right : strip;
  l.bottom_open = open(state_.bottom, display.y >= look.px(kLeastHeight));
  if (!state_.panels) return l;
  const float bar = std::floor(l.bottom_open ? look.px(kBarHeight) : strip);
  const float height = display.y - bar;
  l.left = {0, 0, std::floor(left_width), height};
  l.right = {display.x - std::floor(right_width), 0, std::floor(right_width), height};
  l.bottom = {0, height, display.x, bar};
  l.picture = {l.left.w, 0, std::max(display.x - l.left.w - l.right.w, 1.f), height};
  return l;
}

void ViewerUi::hold_numbers(const ViewerModel& model) {
  if (state_.timings_version == model.timings_version) return;
  state_.timings_version = model.timings_version;
  state_.timing_rows = timing_rows(model), state_.timing_histories = model.timing_histories;
  state_.timings = model.timings, state_.history_ns = model.graph_history_ns;
  state_.display_fps = model.display_fps, state_.decode_fps = model.decode_fps;
}

/// The input with keys that do not overtake what was typed before them: of what comes fast ImGui takes a
/// little each frame, from 1.87 on, and the end of a name would come after the Enter behind it.
InputState ViewerUi::in_order(const InputState& input) {
  InputState ordered = input;
#if IMGUI_VERSION_NUM >= 18700
  waiting_.insert(waiting_.end(), input.presses.begin(), input.presses.end());
  ordered.presses.clear();
  behind_ = !ImGui::GetCurrentContext()->InputEventsQueue.empty();
  if (!behind_) ordered.presses.swap(waiting_);
#endif
  return ordered;
}

void ViewerUi::draw(const ViewerModel& model, const InputState& fresh, const Look& look,
                    std::vector<Command>& out) {
  const int64_t start = now_ns();
  const InputState input = in_order(fresh);
  hold_numbers(model);
  rects_.clear();
  requests_ = {};
  PanelContext ctx{model, input, look, state_, out, tracking_ ? &rects_ : nullptr, start};
  beside_ = state_.compare.mode == CompareMode::side && model.has_second;
  state_.editor.follow(model, ImGui::IsMouseDown(0), start);
  handle_keys(ctx, input, own_rect(), requests_);

  const Layout layout = lay_out(look);
  state_.left_room = layout.left_open, state_.right_room = layout.right_open;
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const Rect& area = layout.picture;
  picture_ = {std::round(area.x * density.x), std::round(area.y * density.y), std::round(area.w * density.x),
              std::round(area.h * density.y)};
  if (tracking_) rects_["picture"] = area;
  if (state_.panels) draw_sides(ctx, layout);
  drop_missing_nodes(ctx);
  ask_for_taps(ctx, state_.panels && layout.right_open);
  ask_for_views(ctx);
  draw_over_picture(ctx, area);
  handle_mouse(ctx);
  state_.editor.take_commands(out);
  requests_.messages = std::exchange(state_.messages, {});
  for (auto& message : state_.editor.take_messages()) requests_.messages.push_back(std::move(message));
  // A slow average: a number to read, not to watch.
  state_.panels_ms += 0.05 * (to_ms(now_ns() - start) - state_.panels_ms);
}

void ViewerUi::draw_sides(PanelContext& ctx, const Layout& l) {
  if (l.left_open) {
    begin_side("##left", l.left);
    draw_source_row(ctx, requests_);
    ImGui::Dummy({0, ctx.px(8)});
    heading(ctx.look, "Graph");
    ImGui::Dummy({0, ctx.px(2)});
    draw_graph_panel(ctx);
    draw_grip(ctx, l.left, true, state_.left_width);
    ImGui::End();
  } else {
    draw_strip(ctx, "##left", l.left, "unfold_left", Icon::chevron_right, state_.left);
  }
  if (l.right_open) {
    begin_side("##right", l.right);
    heading_with_fold(ctx, "Timings", "fold_right", Icon::chevron_right, state_.right);
    ImGui::Dummy({0, ctx.px(2)});
    begin_scrolling(ctx, "##numbers", state_.numbers_scroll);
    draw_timings_panel(ctx, requests_);
    ImGui::Dummy({0, ctx.px(10)});
    section_heading(ctx, "Scopes", "scopes", state_.scopes.open,
                    "Fold the scopes away: nothing is measured then", "Show the scopes", "h",
                    scopes_note(ctx));
    if (state_.scopes.open) draw_scopes_panel(ctx);
    if (ctx.model.track_table()) {
      ImGui::Dummy({0, ctx.px(10)});
      section_heading(ctx, "Tracks", "tracks", state_.tracks.open, "Fold the tracks' numbers away",
                      "Show how the tracks fare", "");
      if (state_.tracks.open) draw_tracks_panel(ctx);
    }
    ImGui::Dummy({0, ctx.px(10)});
    heading(ctx.look, "Status");
    ImGui::Dummy({0, ctx.px(2)});
    draw_status_panel(ctx);
    end_scrolling(state_.numbers_scroll);
    draw_grip(ctx, l.right, false, state_.right_width);
    ImGui::End();
  } else {
    draw_strip(ctx, "##right", l.right, "unfold_right", Icon::chevron_left, state_.right);
  }
  if (l.bottom_open) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ctx.px(12), ctx.px(8)});
    begin_side("##bottom", l.bottom);
    ImGui::GetWindowDrawList()->AddLine({l.bottom.x, l.bottom.y}, {l.bottom.x + l.bottom.w, l.bottom.y},
                                        colour::gray(20));
    draw_transport_bar(ctx);
    ImGui::End();
    ImGui::PopStyleVar();
  } else {
    draw_strip(ctx, "##bottom", l.bottom, "unfold_bottom", Icon::chevron_up, state_.bottom);
  }
}

/// Where the whole picture lies in ImGui units, in an area of the same.
Rect ViewerUi::placed_in(const PanelContext& ctx, const Rect& area) const {
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const Rect pixels{area.x * density.x, area.y * density.y, area.w * density.x, area.h * density.y};
  const Rect r = place(ctx.model.picture, pixels, state_.view).picture;
  return {r.x / density.x, r.y / density.y, r.w / density.x, r.h / density.y};
}

Rect ViewerUi::half_at(float x) const {
  if (!beside_) return picture_;
  const auto [left, right] = halves(picture_);
  return x < right.x ? left : right;
}

void ViewerUi::draw_over_picture(PanelContext& ctx, const Rect& area) {
  beside_ = state_.compare.mode == CompareMode::side && ctx.model.has_second;
  // Beside each other, what belongs to the picture is drawn over B.
  const Rect own = beside_ ? halves(area).second : area;
  const Rect placed = placed_in(ctx, own);
  draw_pixel_values(ctx, own, placed);
  if (state_.tracks.overlay) draw_track_hover(ctx, own, placed);
  if (state_.compare.mode != CompareMode::off) draw_compare(ctx, area, placed);
  // The probe tells of both, so either may be pointed at.
  const bool over_a = beside_ && ImGui::GetIO().MousePos.x < own.x;
  const Rect probed = over_a ? halves(area).first : own;
  draw_probe(ctx, probed, over_a ? placed_in(ctx, probed) : placed);
  if (state_.stats) draw_stats_overlay(ctx, area);
  if (state_.log.open)
    draw_log_panel(ctx, area);
  else
    draw_notices(ctx, area);
  if (state_.panels) draw_view_bar(ctx, area, own, requests_);
  draw_timings_details(ctx);
  draw_source_dialog(ctx, requests_);
  if (state_.help) draw_keys_help(ctx);
}

CompareLook ViewerUi::compare_look() const {
  CompareLook look;
  look.channel = state_.channel, look.gain = state_.compare.gain;
  look.split_x = picture_.x + std::round(picture_.w * state_.compare.split);
  if (state_.bypass)
    look.second_only = true;
  else
    look.mode = state_.compare.mode;
  return look;
}

std::string ViewerUi::second_picture() const {
  if (state_.bypass) return kSourceNode;
  return state_.compare.mode == CompareMode::off ? "" : state_.compare.a;
}
std::string ViewerUi::first_picture() const {
  return state_.compare.mode == CompareMode::off ? "" : state_.compare.b;
}

void ViewerUi::handle_mouse(PanelContext& ctx) {
  const ImGuiIO& io = ImGui::GetIO();
  const float dx = io.DisplayFramebufferScale.x, dy = io.DisplayFramebufferScale.y;
  const float x = io.MousePos.x * dx, y = io.MousePos.y * dy;
  const bool over = !io.WantCaptureMouse && picture_.contains(x, y);
  const Extent picture = ctx.model.picture;
  // The pointer is on a screen pixel, whose centre stays where it is.
  if (over && io.MouseWheel != 0)
    state_.view = zoomed_at(picture, half_at(x), state_.view, x + 0.5f, y + 0.5f,
                            std::pow(1.15, static_cast<double>(io.MouseWheel)));
  if (over && ImGui::IsMouseDoubleClicked(0)) requests_.toggle_fullscreen = true;
  CompareState& c = state_.compare;
  const float split_x = picture_.x + picture_.w * c.split;
  const bool at_split = over && c.mode == CompareMode::split && std::abs(x - split_x) < ctx.px(9) * dx;
  if (over && ImGui::IsMouseClicked(0)) (at_split ? c.dragging : panning_) = true;
  if (!ImGui::IsMouseDown(0)) panning_ = c.dragging = false;
  if (at_split || c.dragging) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (c.dragging) c.split = std::clamp((x - picture_.x) / std::max(picture_.w, 1.f), 0.f, 1.f);
  // A click is not a drag until the pointer has moved a little.
  if (panning_ && ImGui::IsMouseDragging(0)) {
    state_.view = panned(picture, own_rect(), state_.view, io.MouseDelta.x * dx, io.MouseDelta.y * dy);
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  }
}

std::string ViewerUi::widget_map() const {
  std::string text;
  for (const auto& [name, r] : rects_) {
    std::string one_word = name;
    std::replace(one_word.begin(), one_word.end(), ' ', '_');
    text += fmt::format("{} {:.0f} {:.0f} {:.0f} {:.0f}\n", one_word, r.x, r.y, r.w, r.h);
  }
  return text;
}

}  // namespace lensd::ui
