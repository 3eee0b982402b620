#include "ui/viewer_ui.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/base/contains.hpp"
#include "ui/keys.hpp"
#include "ui/model/track_space.hpp"
#include "ui/panels/sides.hpp"

namespace lensd::ui {
namespace {

/// Requests the open scope if `visible`, and the measurement of the comparison.
void request_scopes(PanelContext& ctx, bool visible) {
  const ScopesState& s = ctx.state.scopes;
  const CompareState& c = ctx.state.compare;
  std::vector<ScopeRequest> wanted;
  if (visible && s.open) wanted.push_back({s.node, s.kind});
  if (c.mode != CompareMode::off) wanted.push_back({c.a, ScopeKind::compare, c.b});
  if (wanted != ctx.model.scopes) ctx.send(SetScopes{std::move(wanted)});
}

/// Requests the pictures that the comparison, the probe, the bypass and crop editing need.
void request_views(PanelContext& ctx) {
  const UiState& s = ctx.state;
  std::vector<std::string> wanted;
  const auto want = [&](const std::string& node) {
    if (!node.empty() && !contains(wanted, node)) wanted.push_back(node);
  };
  if (s.compare.mode != CompareMode::off) want(s.compare.a), want(s.compare.b);
  if (s.probe.on) want(kSourceNode), want(s.scopes.node);
  if (s.bypass) want(kSourceNode);
  if (crop_shown(s)) want(input_of(s.editor.graph(), s.crop.node));
  if (wanted != ctx.model.views) ctx.send(SetViews{std::move(wanted)});
}

/// Replaces the old names of renamed nodes in the panels' state.
void follow_renames(UiState& s) {
  for (const auto& [from, to] : s.editor.take_renames()) {
    for (std::string* node : {&s.graph.selected, &s.crop.node, &s.compare.a, &s.compare.b, &s.scopes.node})
      if (*node == from) *node = to;
    if (s.graph.folded.erase(from) > 0) s.graph.folded.insert(to);
  }
}

void drop_missing_nodes(PanelContext& ctx) {
  UiState& s = ctx.state;
  // A renamed node may be missing in the running graph.
  const auto there = [&](const std::string& node) {
    return ctx.model.has_picture(node) || s.editor.graph().find(node);
  };
  if (!there(s.compare.a)) s.compare.a = kSourceNode;
  for (std::string* node : {&s.compare.b, &s.scopes.node})
    if (!there(*node)) node->clear();
}

}  // namespace

void ViewerUi::update_numbers(const ViewerModel& model) {
  if (state_.timings_version == model.timings_version) return;
  state_.timings_version = model.timings_version;
  state_.timing_rows = timing_rows(model), state_.timing_histories = model.timing_histories;
  state_.timings = model.timings, state_.history_ns = model.graph_history_ns;
  state_.display_fps = model.display_fps, state_.graph_fps = model.graph_fps;
}

/// Delays key presses until ImGui has processed its queued text. Since version 1.87 ImGui processes only a
/// part of the text per frame, so Enter would otherwise overtake the end of a fast-typed name.
InputState ViewerUi::in_typed_order(const InputState& input) {
  InputState ordered = input;
#if IMGUI_VERSION_NUM >= 18700
  waiting_.insert(waiting_.end(), input.presses.begin(), input.presses.end());
  ordered.presses.clear();
  behind_ = !ImGui::GetCurrentContext()->InputEventsQueue.empty();
  if (!behind_) ordered.presses.swap(waiting_);
#endif
  return ordered;
}

void ViewerUi::set_fullscreen(bool on) {
  if (on == state_.fullscreen) return;
  state_.fullscreen = on;
  if (on) state_.windowed_panels = state_.panels;
  state_.panels = on ? false : state_.windowed_panels;
}

/// Ends the typing of a name or value whose field was not drawn in the last frame, for example because its
/// node or its side of the window is gone. Keys would otherwise stay reserved for the field, and its text
/// would be shown and applied later.
void ViewerUi::end_hidden_fields() {
  if (!std::exchange(state_.graph.rename_drawn, false)) state_.graph.renamed.clear();
  TextEdit& edit = state_.text_edit;
  if (!std::exchange(edit.drawn, false)) edit.number = false, edit.id = 0;
  edit.left = 0;
}

void ViewerUi::draw(const ViewerModel& model, const InputState& unordered, const Look& look,
                    std::vector<Command>& out) {
  const int64_t start = now_ns();
  const InputState input = in_typed_order(unordered);
  update_numbers(model);
  rects_.clear();
  requests_ = {};
  state_.view.pixel_aspect =
      chosen_pixel_aspect(aspect_choices()[static_cast<size_t>(state_.aspect)],
                          shows_source() ? model.source_aspect : model.pixel_aspect, model.picture);
  PanelContext ctx{model, input, look, state_, out, tracking_ ? &rects_ : nullptr, start};
  beside_ = compare_mode() == CompareMode::side && model.has_second;
  state_.editor.follow(model, ImGui::IsMouseDown(0), start);
  state_.text_edit.entered = ctx.pressed(Key::enter), state_.text_edit.escaped = ctx.pressed(Key::escape);
  end_hidden_fields();
  handle_keys(ctx, input, own_rect(), requests_);
  follow_renames(state_);  // after an undo or a change by another client
  // Drawing an open popup or the dragged seek bar sets its flag again.
  state_.graph.add_open = state_.preset_menu.name_open = state_.seek_held = false;

  const SideLayout layout = lay_out_sides(state_, look);
  state_.left_room = layout.left_open, state_.right_room = layout.right_open;
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const Rect& area = layout.picture;
  picture_ = {std::round(area.x * density.x), std::round(area.y * density.y), std::round(area.w * density.x),
              std::round(area.h * density.y)};
  if (tracking_) rects_["picture"] = area;
  state_.tracks.fit = !state_.editor.registry() || tracks_fit();
  if (state_.panels) {
    draw_sides(ctx, layout, requests_);
    state_.panels_hidden_ns = -1;
  } else {
    if (state_.panels_hidden_ns < 0) state_.panels_hidden_ns = start;
    draw_hidden_bottom(ctx);
  }
  // Otherwise the node would be dropped under the pointer when the list is shown again.
  if (!state_.panels || !layout.left_open) state_.graph.dragged.clear();
  follow_renames(state_);
  drop_missing_nodes(ctx);
  draw_over_picture(ctx, area);
  handle_mouse(ctx);
  state_.editor.take_commands(out);
  // After the edits: in the pipeline, scopes and views follow a renamed node, so that these change nothing.
  request_scopes(ctx, state_.panels && layout.right_open);
  request_views(ctx);
  requests_.messages = std::exchange(state_.messages, {});
  for (auto& message : state_.editor.take_messages()) requests_.messages.push_back(std::move(message));
  // Use a slow moving average to make the number readable.
  state_.panels_ms += 0.05 * (to_ms(now_ns() - start) - state_.panels_ms);
}

/// Returns the whole picture's rectangle in `area`, both in ImGui units.
Rect ViewerUi::placed_in(const PanelContext& ctx, const Rect& area) const {
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const Rect pixels{area.x * density.x, area.y * density.y, area.w * density.x, area.h * density.y};
  const Rect r = place(ctx.model.picture, pixels, state_.view).picture;
  return {r.x / density.x, r.y / density.y, r.w / density.x, r.h / density.y};
}

void ViewerUi::draw_over_picture(PanelContext& ctx, const Rect& area) {
  beside_ = compare_mode() == CompareMode::side && ctx.model.has_second;
  // If A and B are side by side, draw overlays over B.
  const Rect own = beside_ ? halves(area).second : area;
  const Rect placed = placed_in(ctx, own);
  Rect of_b = own;  // the part that shows B; the numbers are of B's pixels
  if (compare_mode() == CompareMode::split) {
    const float of_a = std::floor(area.w * state_.compare.split);
    of_b.x += of_a, of_b.w -= of_a;
  }
  draw_pixel_values(ctx, of_b, placed);
  if (state_.tracks.overlay && tracks_fit()) draw_track_hover(ctx, own, placed);
  if (state_.compare.mode != CompareMode::off) draw_compare(ctx, area, placed);
  draw_crop(ctx, own, placed);
  // The probe also works over A.
  const bool over_a = beside_ && ImGui::GetIO().MousePos.x < own.x;
  const Rect probed = over_a ? halves(area).first : own;
  draw_probe(ctx, probed, over_a ? placed_in(ctx, probed) : placed);
  draw_live_state(ctx, area);
  if (state_.stats) draw_stats_overlay(ctx, area, own);
  if (state_.log.open)
    draw_log_panel(ctx, area);
  else
    draw_notices(ctx, area);
  if (state_.panels) draw_view_bar(ctx, area, own, requests_);
  draw_picture_menu(ctx, area, own_rect(), requests_);
  draw_timings_details(ctx);
  draw_source_dialog(ctx, requests_);
  if (state_.help) draw_keys_help(ctx);
}

CompareLook ViewerUi::compare_look() const {
  CompareLook look;
  look.channel = state_.channel, look.gain = state_.compare.gain;
  look.split_x = picture_.x + std::round(picture_.w * state_.compare.split);
  look.mode = compare_mode();
  return look;
}

std::optional<std::string> ViewerUi::second_picture() const {
  if (compare_mode() == CompareMode::off) return std::nullopt;
  return state_.compare.a;
}

std::string ViewerUi::first_picture() const {
  if (state_.bypass) return kSourceNode;
  if (crop_shown(state_)) return input_of(state_.editor.graph(), state_.crop.node);
  return state_.compare.mode == CompareMode::off ? "" : state_.compare.b;
}

bool ViewerUi::tracks_fit() const {
  const Registry* registry = state_.editor.registry();
  return registry && ui::tracks_fit(state_.editor.graph(), *registry, first_picture());
}

void ViewerUi::handle_mouse(PanelContext& ctx) {
  const ImGuiIO& io = ImGui::GetIO();
  const float dx = io.DisplayFramebufferScale.x, dy = io.DisplayFramebufferScale.y;
  const float x = io.MousePos.x * dx, y = io.MousePos.y * dy;
  const bool over = !io.WantCaptureMouse && picture_.contains(x, y);
  const Extent picture = ctx.model.picture;
  // Zoom around the centre of the screen pixel under the pointer.
  const bool over_a = beside_ && x < own_rect().x;
  if (over && io.MouseWheel != 0)
    state_.view = zoomed_at(picture, over_a ? halves(picture_).first : own_rect(), state_.view, x + 0.5f,
                            y + 0.5f, std::pow(1.15, static_cast<double>(io.MouseWheel)));
  CompareState& c = state_.compare;
  const float split_x = picture_.x + picture_.w * c.split;
  const bool at_split =
      over && compare_mode() == CompareMode::split && std::abs(x - split_x) < ctx.px(9) * dx;
  // Two quick drags of a handle must not count as a double click on the picture.
  const bool at_handle = at_split || state_.crop.grip.x != 0 || state_.crop.grip.y != 0;
  if (over && !at_handle && ImGui::IsMouseDoubleClicked(0)) requests_.toggle_fullscreen = true;
  if (over && ImGui::IsMouseClicked(0) && !state_.crop.grip.any()) (at_split ? c.dragging : panning_) = true;
  if (!ImGui::IsMouseDown(0)) panning_ = c.dragging = false;
  if (at_split || c.dragging) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (c.dragging) c.split = std::clamp((x - picture_.x) / std::max(picture_.w, 1.f), 0.f, 1.f);
  // ImGui reports a drag only after a minimum distance.
  if (panning_ && ImGui::IsMouseDragging(0)) {
    state_.view = panned(picture, own_rect(), state_.view, io.MouseDelta.x * dx, io.MouseDelta.y * dy);
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  }
  hide_idle_pointer(over && !at_split, ctx.time_ns);
}

/// Hides the pointer over the picture if the panels are hidden and the mouse was not used for a second. Does
/// not hide it while the probe or crop editing is on.
void ViewerUi::hide_idle_pointer(bool over_picture, int64_t time_ns) {
  constexpr int64_t kIdle = 1'000'000'000;
  const ImGuiIO& io = ImGui::GetIO();
  const bool used =
      io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 || ImGui::IsAnyMouseDown();
  if (used || !over_picture || state_.panels) pointer_used_ns_ = time_ns;
  if (time_ns - pointer_used_ns_ < kIdle || state_.probe.on || !state_.crop.node.empty()) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_None);
}

std::string ViewerUi::widget_map() const {
  std::string text;
  for (const auto& [name, r] : rects_) {
    std::string one_word = name;
    std::ranges::replace(one_word, ' ', '_');
    std::ranges::replace(one_word, '\n', '_');
    text += fmt::format("{} {:.0f} {:.0f} {:.0f} {:.0f}\n", one_word, r.x, r.y, r.w, r.h);
  }
  return text;
}

}  // namespace lensd::ui
