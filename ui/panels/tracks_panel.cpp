// Draws statistics of the tracks (number, ages, reasons for losses) and the values of the track under the
// pointer.
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/gl/track_overlay.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr size_t kAgeBins = 30;
constexpr float kPickDistance = 12;  // maximum distance from pointer to track; logical pixels

ImU32 ramp(float t) {  // same colours as shaders/track_point.frag
  constexpr float stops[4][3] = {
      {.29f, .35f, .86f}, {.13f, .68f, .78f}, {.46f, .84f, .36f}, {.99f, .86f, .22f}};
  const float at = std::clamp(t, 0.f, 1.f) * 3;
  const int i = std::min(static_cast<int>(at), 2);
  const auto mix = [&](int c) {
    return static_cast<int>(255 *
                            (stops[i][c] + (stops[i + 1][c] - stops[i][c]) * (at - static_cast<float>(i))));
  };
  return IM_COL32(mix(0), mix(1), mix(2), 255);
}

void choose_look(PanelContext& ctx) {
  TracksState& s = ctx.state.tracks;
  const float gap = ctx.px(2);
  const float width = std::floor((ImGui::GetContentRegionAvail().x - 4 * gap - ctx.px(6)) / 5);
  const auto choice = [&](TrackColour by, const char* label, const char* doc) {
    if (toggle_button(ctx.look, label, s.colour == by, width)) s.colour = by;
    ctx.item("tracks", label, doc);
    ImGui::SameLine(0, gap);
  };
  choice(TrackColour::age, "Age", "Colour by age: how long a point has been followed");
  choice(TrackColour::residual, "Residual",
         "Colour by residual: difference of its patch to the frame before");
  choice(TrackColour::motion, "Motion", "Colour by motion: pixels since the frame before");
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ctx.px(6));
  if (toggle_button(ctx.look, "Trails", s.trails, width)) s.trails = !s.trails;
  ctx.item("tracks", "trails", "Where each point was in the last frames");
  ImGui::SameLine(0, gap);
  if (toggle_button(ctx.look, "Show", s.overlay, width)) s.overlay = !s.overlay;
  ctx.item("tracks", "overlay", "Tracks over the picture", key_hint(Action::tracks));
}

void draw_ramp(PanelContext& ctx) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ctx.px(4);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (int i = 0; i < 3; ++i) {
    const float t0 = static_cast<float>(i) / 3, t1 = static_cast<float>(i + 1) / 3;
    list.AddRectFilledMultiColor({at.x + t0 * width, at.y}, {at.x + t1 * width, at.y + height}, ramp(t0),
                                 ramp(t1), ramp(t1), ramp(t0));
  }
  ImGui::Dummy({width, height});
  const TrackScale scale = track_scale(ctx.state.tracks.colour);
  text_coloured(colour::dim, "0");
  ImGui::SameLine();
  text_right(colour::dim, fmt::format("{:.0f} {} and more", scale.full, scale.unit));
}

void draw_ages(PanelContext& ctx, const TrackTable& table) {
  std::array<uint32_t, kAgeBins> bins{};
  const float full = track_scale(TrackColour::age).full;
  for (uint32_t i = 0; i < table.capacity; ++i) {
    const Track& t = table.tracks()[i];
    if (!is_alive(t.status)) continue;
    const auto bin = static_cast<size_t>(static_cast<float>(t.age) / full * kAgeBins);
    ++bins[std::min(bin, kAgeBins - 1)];
  }
  const uint32_t most = std::max(1u, *std::ranges::max_element(bins));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, ctx.px(44)};
  ImGui::InvisibleButton("##ages", size);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour::gray(17), ctx.px(3));
  const float step = size.x / kAgeBins;
  for (size_t i = 0; i < kAgeBins; ++i) {
    const float height = static_cast<float>(bins[i]) / static_cast<float>(most) * (size.y - ctx.px(4));
    const float x = at.x + step * static_cast<float>(i);
    // Use the track colours only if they represent the age.
    const bool coloured = ctx.state.tracks.colour == TrackColour::age;
    list.AddRectFilled({x + 1, at.y + size.y - height}, {x + step - 1, at.y + size.y},
                       coloured ? ramp(static_cast<float>(i) / (kAgeBins - 1)) : colour::gray(140));
  }
  if (tooltip_due()) tooltip(ctx.look, fmt::format("Live tracks by age, 0 to {:.0f} frames and more", full));
}

void row(const char* label, const std::string& value, ImU32 ink = colour::text) {
  text_coloured(colour::dim, label);
  ImGui::SameLine();
  text_right(ink, value);
}

}  // namespace

void draw_tracks_panel(PanelContext& ctx) {
  const TrackTable& table = *ctx.model.track_table();
  const FontScope font(ctx.look.small);
  const VarScope item_spacing(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(4)});
  choose_look(ctx);
  if (ctx.state.tracks.overlay && !ctx.state.tracks.fit) {
    wrapped_text(
        colour::accent,
        "Not over this picture: a node between klt and the picture crops, mirrors, rotates or shifts it. "
        "Move klt below that node, or add draw_tracks above it.");
    ctx.mark("tracks", "elsewhere");
  }
  draw_ramp(ctx);
  row("live", fmt::format("{} of {}", table.alive, table.capacity));
  row("median age", fmt::format("{} frames", table.median_age));
  draw_ages(ctx, table);
  constexpr std::pair<TrackStatus, const char*> reasons[] = {
      {TrackStatus::lost_outside, "left the picture"},
      {TrackStatus::lost_texture, "too little texture"},
      {TrackStatus::lost_residual, "patches differ"},
      {TrackStatus::lost_return, "failed the backward check"},
      {TrackStatus::lost_drift, "drifted"},
      {TrackStatus::lost_crowded, "met an older track"},
      {TrackStatus::lost_cut, "a cut or a seek"}};
  text_coloured(colour::dim, "lost in the last second");
  for (const auto& [status, label] : reasons) {
    const uint32_t count = ctx.model.tracks_lost[static_cast<size_t>(status)];
    row(fmt::format("   {}", label).c_str(), fmt::format("{}", count),
        count > 0 ? colour::text : colour::faint);
  }
}

void toggle_tracks(PanelContext& ctx) {
  if (!ctx.model.track_table()) return ctx.notify(false, "There are no tracks; a klt node makes them");
  ctx.state.tracks.overlay = !ctx.state.tracks.overlay;
}

void draw_track_hover(PanelContext& ctx, const Rect& area, const Rect& placed) {
  const TrackTable* table = ctx.model.track_table();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!table || table->picture.width < 1 || ImGui::GetIO().WantCaptureMouse ||
      !area.contains(mouse.x, mouse.y))
    return;
  const float sx = placed.w / static_cast<float>(table->picture.width);
  const float sy = placed.h / static_cast<float>(table->picture.height);
  const auto on_screen = [&](const Track& t) {
    return ImVec2{placed.x + (t.x + 0.5f) * sx, placed.y + (t.y + 0.5f) * sy};
  };
  const Track* nearest = nullptr;
  float least = ctx.px(kPickDistance) * ctx.px(kPickDistance);
  for (uint32_t i = 0; i < table->capacity; ++i) {
    const Track& t = table->tracks()[i];
    if (!is_alive(t.status)) continue;
    const ImVec2 at = on_screen(t);
    const float distance = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
    if (distance < least) least = distance, nearest = &t;
  }
  if (!nearest) return;
  const Track& t = *nearest;
  ImGui::GetBackgroundDrawList()->AddCircle(on_screen(t), ctx.px(7), colour::gray(255), 24, ctx.px(1.5f));
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(10), ctx.px(8)});
  ImGui::BeginTooltip();
  ImGui::PushFont(ctx.look.small);
  text_coloured(colour::accent, fmt::format("track {}", t.id));
  text_coloured(colour::text, fmt::format("x {:.2f}   y {:.2f}", t.x, t.y));
  text_coloured(colour::text,
                fmt::format("motion {:+.2f}, {:+.2f} px", t.x - t.previous_x, t.y - t.previous_y));
  text_coloured(colour::text, fmt::format("age {} frames", t.age));
  text_coloured(colour::text, fmt::format("residual {:.2f} levels", t.residual));
  text_coloured(colour::text, fmt::format("forward-backward {:.3f} px", t.return_error));
  ImGui::PopFont();
  ImGui::EndTooltip();
}

}  // namespace lensd::ui
