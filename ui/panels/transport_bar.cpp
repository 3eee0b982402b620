// Draws the bar below the picture. It contains, for example, pause, step, time, seek bar, volume and drops.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kWheelNs = 5'000'000'000;
constexpr float kGap = 14, kThumbnailWidth = 200, kThumbnailHeight = 134;  ///< logical pixels
constexpr double kFullVolume = 100;  // percent at the end of the volume bar; keys and the wheel go beyond

bool long_source(const ViewerModel& m) {
  return std::max(m.duration_ns, m.position_ns) >= int64_t{3600} * 1'000'000'000;
}

/// Rounds the wheel's movement in this display frame to whole clicks, but never to 0. Keeps the sign.
double wheel_clicks(float turned) {
  return std::copysign(std::max(1.0, std::round(std::abs(static_cast<double>(turned)))), turned);
}

void fixed_text(ImU32 ink, const std::string& text, const std::string& widest, bool right = false) {
  const float width = ImGui::CalcTextSize(widest.c_str()).x, own = ImGui::CalcTextSize(text.c_str()).x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::Dummy({std::max(width, own), height});
  const float x = right && own < width ? at.x + width - own : at.x;
  ImGui::GetWindowDrawList()->AddText({x, at.y + (height - ImGui::GetFontSize()) * 0.5f}, ink, text.c_str());
}

void draw_buttons(PanelContext& ctx) {
  if (icon_button(ctx.look, "##back", Icon::step_back)) step_frames(ctx, -1);
  ctx.item("transport", "step_back", "One frame back", key_hint(Action::step_back));
  ImGui::SameLine(0, ctx.px(2));
  const bool still = ctx.model.stands_still();
  if (icon_button(ctx.look, "##pause", still ? Icon::play : Icon::pause, still)) toggle_pause(ctx);
  ctx.mark("transport", "pause");
  tooltip(ctx.look,
          ctx.model.ended && still && ctx.model.seekable ? "Play from the beginning"
          : still                                        ? "Play"
                                                         : "Pause",
          key_hint(Action::pause));
  ImGui::SameLine(0, ctx.px(2));
  if (icon_button(ctx.look, "##step", Icon::step_forward)) step_frames(ctx, 1);
  ctx.item("transport", "step", "One frame forward", key_hint(Action::step_forward));
}

/// Draws a limit of the A-B loop with its letter on the left (`side` −1) or on the right (1).
void draw_loop_mark(PanelContext& ctx, ImVec2 at, const char* letter, float side) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float half = ctx.px(1);
  list.AddRectFilled({at.x - half, at.y - ctx.px(9)}, {at.x + half, at.y + ctx.px(9)}, colour::accent);
  const FontScope font(ctx.look.small);
  const ImVec2 size = ImGui::CalcTextSize(letter);
  const float x = side < 0 ? at.x - ctx.px(4) - size.x : at.x + ctx.px(4);
  list.AddText({x, at.y - ctx.px(4) - size.y}, colour::accent, letter);
  if (ctx.rects) (*ctx.rects)[fmt::format("transport/loop_{}", letter)] = {at.x - half, at.y, 2 * half, 1};
}

/// Draws the seek bar, filled up to the fraction `filled` of its width.
void draw_track(PanelContext& ctx, ImVec2 at, ImVec2 size, float filled, bool held) {
  const ViewerModel& m = ctx.model;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float half = ctx.px(held ? 2.5f : 2.f), y = std::floor(at.y + size.y * 0.5f),
              x = at.x + size.x * filled;
  list.AddRectFilled({at.x, y - half}, {at.x + size.x, y + half}, colour::gray(58), half);
  const auto place_of = [&](int64_t ns) {
    return at.x + size.x * std::clamp(share(ns, m.duration_ns), 0.f, 1.f);
  };
  if (m.loop_a_ns >= 0 && m.loop_b_ns >= 0)
    list.AddRectFilled({place_of(m.loop_a_ns), y - ctx.px(6)}, {place_of(m.loop_b_ns), y + ctx.px(6)},
                       colour::accent_soft, ctx.px(1));
  list.AddRectFilled({at.x, y - half}, {x, y + half}, colour::gray(150), half);
  for (const Chapter& chapter : m.chapters)  // draw chapters as gaps in the bar
    if (chapter.start_ns > 0 && chapter.start_ns < m.duration_ns)
      list.AddRectFilled({place_of(chapter.start_ns) - ctx.px(1), y - half - 1},
                         {place_of(chapter.start_ns) + ctx.px(1), y + half + 1}, colour::panel);
  if (m.loop_a_ns >= 0) draw_loop_mark(ctx, {place_of(m.loop_a_ns), y}, "A", -1);
  if (m.loop_b_ns >= 0) draw_loop_mark(ctx, {place_of(m.loop_b_ns), y}, "B", 1);
  list.AddCircleFilled({x, y}, ctx.px(held ? 6.f : 5.f), held ? colour::accent : colour::text, 24);
}

/// Draws the thumbnail, the time and the chapter of the position under the pointer. Until the thumbnail is
/// decoded, draws a dark rectangle of the same size, so that the layout does not move.
void draw_seek_tooltip(PanelContext& ctx, int64_t pointed_ns) {
  const ViewerModel& m = ctx.model;
  const std::string time = clock_text(pointed_ns, long_source(m));
  ImGui::BeginTooltip();
  if (m.thumbnails) {
    const Rect room{0, 0, ctx.px(kThumbnailWidth), ctx.px(kThumbnailHeight)};
    const bool known = m.thumbnail != nullptr;
    const Extent picture = known ? m.thumbnail->format.extent : m.source_size;
    const double scale = fit_scale(picture, room, known ? 1 : m.source_aspect);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{static_cast<float>(picture.width * (known ? 1 : m.source_aspect) * scale),
                      static_cast<float>(picture.height * scale)};
    ImGui::Dummy(size);
    ctx.mark("transport", "thumbnail");
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + size.x, at.y + size.y};
    list.AddRectFilled(at, end, colour::gray(24), ctx.px(2));
    if (known && ctx.state.thumbnail.texture)
      list.AddImageRounded((ImTextureID)(intptr_t)ctx.state.thumbnail.texture, at, end, {0, 0}, {1, 1},
                           IM_COL32_WHITE, ctx.px(2));
    const float indent = (size.x - ImGui::CalcTextSize(time.c_str()).x) * 0.5f;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(indent, 0.f));
  }
  ImGui::TextUnformatted(time.c_str());
  if (const auto chapter = chapter_at(m.chapters, pointed_ns)) {
    ImGui::TextUnformatted(elided(chapter_text(m.chapters, *chapter), ctx.px(kThumbnailWidth)).c_str());
    ctx.mark("transport", "chapter");
  }
  ImGui::EndTooltip();
}

void draw_seek_bar(PanelContext& ctx, float width) {
  const ViewerModel& m = ctx.model;
  UiState& s = ctx.state;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size{width, ImGui::GetFrameHeight()};
  ImGui::InvisibleButton("##seek", size);
  ctx.mark("transport", "seek");
  if (ImGui::IsItemActivated()) s.seek_pipeline = m.pipeline;
  // A drag belongs to the source in which it began: it must not seek in the next source of a playlist.
  if (s.seek_pipeline != m.pipeline) {
    s.seek_ns = -1;
    if (ImGui::IsItemActive()) ImGui::ClearActiveID();
  }
  const bool active = ImGui::IsItemActive() && s.seek_pipeline == m.pipeline;
  const bool hovered = ImGui::IsItemHovered();
  s.seek_held = active;
  const auto pointed = static_cast<int64_t>(
      std::clamp((ImGui::GetIO().MousePos.x - at.x) / size.x, 0.f, 1.f) * static_cast<double>(m.duration_ns));
  if (active && pointed != s.seek_ns) {
    ctx.send(Seek{pointed, false});
    s.seek_ns = pointed, s.seek_from_ns = m.position_ns;
  }
  // Keep the handle at the seek position until the seek has finished, but at most 0.5 s after the release.
  if (active) s.seek_until_ns = ctx.time_ns + 500'000'000;
  if (!active && (m.position_ns != s.seek_from_ns || ctx.time_ns > s.seek_until_ns)) s.seek_ns = -1;
  const int64_t shown = s.seek_ns >= 0 ? s.seek_ns : m.position_ns;
  draw_track(ctx, at, size, std::clamp(share(shown, m.duration_ns), 0.f, 1.f), active || hovered);
  if (const float wheel = hovered ? ImGui::GetIO().MouseWheel : 0; wheel != 0)
    ctx.send(Seek{static_cast<int64_t>(wheel_clicks(wheel) * kWheelNs), true});
  if ((!hovered && !active) || s.help) return;
  s.thumbnail.wanted_ns = pointed;
  draw_seek_tooltip(ctx, pointed);
}

void draw_speed(PanelContext& ctx) {
  const std::string text = fmt::format("{:.2f}×", ctx.model.speed);
  ImGui::PushStyleColor(ImGuiCol_Button, colour::gray(0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, ctx.model.speed == 1 ? colour::dim : colour::accent);
  if (ImGui::Button(fmt::format("{}###speed", text).c_str(),
                    {ImGui::CalcTextSize("0.00×").x + ctx.px(12), 0}))
    ImGui::OpenPopup("speeds");
  ImGui::PopStyleColor(2);
  ctx.item("transport", "speed", "Speed", key_hint({Action::slower, Action::faster, Action::normal_speed}));
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(8), ctx.px(6)});
  if (ImGui::BeginPopup("speeds")) {
    for (const double speed : {0.1, 0.25, 0.5, 1.0, 2.0, 4.0})
      if (ImGui::Selectable(fmt::format("{:g}×", speed).c_str(), speed == ctx.model.speed))
        ctx.send(SetSpeed{speed});
    ImGui::EndPopup();
  }
}

void draw_loop(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  if (icon_button(ctx.look, "##loop", Icon::loop, m.loop_file)) toggle_file_loop(ctx);
  ctx.item("transport", "loop", m.loop_file ? "Stop looping the file" : "Loop the file",
           fmt::format("{}; {} sets an A-B loop", key_hint(Action::loop_file), key_text(Action::ab_loop)));
}

/// Draws the volume as a short bar that can be dragged.
void draw_volume_bar(PanelContext& ctx, float width, bool sounds) {
  const ViewerModel& m = ctx.model;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size{width, ImGui::GetFrameHeight()};
  ImGui::InvisibleButton("##volume", size);
  const double pointed = std::clamp((ImGui::GetIO().MousePos.x - at.x) / size.x, 0.f, 1.f) * kFullVolume;
  if (ImGui::IsItemActive() && std::abs(pointed - m.volume) >= 0.5) ctx.send(SetVolume{std::round(pointed)});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float half = ctx.px(2), y = std::floor(at.y + size.y * 0.5f);
  const float x = at.x + size.x * std::clamp(static_cast<float>(m.volume / kFullVolume), 0.f, 1.f);
  const ImU32 ink = !sounds || m.muted ? colour::gray(90) : colour::gray(150);
  list.AddRectFilled({at.x, y - half}, {at.x + size.x, y + half}, colour::gray(58), half);
  list.AddRectFilled({at.x, y - half}, {x, y + half}, ink, half);
  list.AddCircleFilled({x, y}, ctx.px(4), !sounds || m.muted ? colour::dim : colour::text, 20);
}

/// Draws the mute button and the volume, dimmed while there is no sound.
void draw_sound(PanelContext& ctx, float bar) {
  const ViewerModel& m = ctx.model;
  const bool sounds = m.sound == SoundState::playing;
  const std::string reason = sound_reason(m.sound);
  const std::string state = m.muted ? "Muted" : fmt::format("Volume {:.0f} %", m.volume);
  const std::string text = reason.empty() ? state : fmt::format("{} ({})", reason, state);
  const std::string keys =
      fmt::format("{}; {}", key_hint({Action::quieter, Action::louder}), key_text(Action::mute));
  const auto wheel = [&] {
    const float turned = ImGui::IsItemHovered() ? ImGui::GetIO().MouseWheel : 0;
    if (turned != 0) ctx.send(SetVolume{std::clamp(m.volume + 5 * wheel_clicks(turned), 0.0, kMaxVolume)});
  };
  if (!sounds) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.5f);
  if (icon_button(ctx.look, "##mute", sounds && !m.muted ? Icon::speaker : Icon::speaker_off,
                  sounds && m.muted))
    ctx.send(SetMute{!m.muted});
  if (!sounds) ImGui::PopStyleVar();
  ctx.item("transport", "mute", text, keys);
  wheel();
  if (bar <= 0) return;
  ImGui::SameLine(0, ctx.px(2));
  if (m.sound == SoundState::refused) {  // the volume has no effect as long as this source plays
    const FontScope font(ctx.look.small);
    fixed_text(colour::dim, elided("no sound", bar), "no sound");
    return ctx.item("transport", "no_sound", reason);
  }
  draw_volume_bar(ctx, bar, sounds);
  ctx.item("transport", "volume", text, keys);
  wheel();
}

void draw_live(PanelContext& ctx) {
  const LiveStatus& live = ctx.model.live_status;
  const LiveState state = live.live ? live.state : LiveState::playing;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight(), radius = ctx.px(4);
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + radius, at.y + height * 0.5f}, radius,
                                              state_colour(state), 20);
  ImGui::SetCursorScreenPos({at.x + 2 * radius + ctx.px(6), at.y});
  fixed_text(colour::text, state_word(state), "reconnecting");
  ctx.mark("transport", "live");
  if (live.live)
    tooltip(ctx.look, live.reason.empty() ? live_text(live, ctx.time_ns)
                                          : live_text(live, ctx.time_ns) + "\n" + live.reason);
}

float text_width(const std::string& text) {
  return ImGui::CalcTextSize(text.c_str()).x;
}

std::string widest_time(const ViewerModel& m) {
  return long_source(m) ? "0:00:00.000" : "00:00.000";
}

float position_width(PanelContext& ctx, bool seekable, bool narrow) {
  const std::string widest = widest_time(ctx.model);
  const float total = seekable ? ctx.px(6) + text_width("/ " + widest) : 0;
  return text_width(widest) + (narrow ? 0 : total + ctx.px(kGap) + text_width("frame 00000"));
}

void draw_position(PanelContext& ctx, bool seekable, bool narrow) {
  const ViewerModel& m = ctx.model;
  const bool long_time = long_source(m);
  const std::string widest = widest_time(m);
  const int64_t time = ctx.state.seek_ns >= 0 ? ctx.state.seek_ns : m.position_ns;
  fixed_text(colour::text, clock_text(time, long_time), widest);
  if (narrow) return;
  if (seekable) {
    ImGui::SameLine(0, ctx.px(6));
    fixed_text(colour::faint, fmt::format("/ {}", clock_text(m.duration_ns, long_time)), "/ " + widest);
  }
  ImGui::SameLine(0, ctx.px(kGap));
  fixed_text(colour::dim, fmt::format("frame {}{}", m.frame_estimated ? "~" : "", m.frame_index),
             "frame 00000");
  if (m.frame_estimated) tooltip(ctx.look, "Estimated from the position: the frame rate varies");
}

}  // namespace

void draw_transport_bar(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const float gap = ctx.px(kGap), room = ImGui::GetContentRegionAvail().x;
  const bool seekable = m.seekable && m.duration_ns > 0 && !m.live;
  const VarScope frame_padding(ImGuiStyleVar_FramePadding, {ctx.px(6), ctx.px(7.5f)});
  ctx.state.thumbnail.wanted_ns = -1;
  if (ctx.state.seek_pipeline != m.pipeline) ctx.state.seek_ns = -1;  // the next source may have no seek bar
  draw_buttons(ctx);
  ImGui::SameLine(0, gap);

  const std::string fps = fmt::format("{:.1f} fps", ctx.state.display_fps);
  const uint64_t lost = m.counts.drops();
  const std::string drops = count_text(lost, "drop");
  const float fps_width = text_width("000.0 fps");
  const float drops_width = std::max(text_width("000 drops"), text_width(drops));
  const float speed_width =
      m.live ? text_width("reconnecting") + ctx.px(26) : text_width("0.00×") + ctx.px(12) + ctx.px(32);
  const float space = ImGui::GetContentRegionAvail().x, volume_bar = ctx.px(56);
  const auto right_width = [&](bool narrow, bool tight) {
    const float sound = ctx.px(30) + (narrow ? 0 : volume_bar + ctx.px(2));
    const float figures = tight ? 0 : gap + fps_width + gap + drops_width;
    return ctx.px(22) + ctx.px(8) + sound + gap + speed_width + figures;
  };
  // Hide parts until the timeline has a quarter of the width.
  const float wanted = seekable ? room * 0.25f : 0;
  const auto fits = [&](bool narrow, bool tight) {
    return space - position_width(ctx, seekable, narrow) - right_width(narrow, tight) - 2 * gap >= wanted;
  };
  const bool narrow = !fits(false, false), tight = narrow && !fits(true, false);
  const bool timeless = seekable && tight && !fits(true, true);
  if (!timeless) draw_position(ctx, seekable, narrow);
  const float volume = narrow ? 0 : volume_bar, right = right_width(narrow, tight);
  if (!timeless) ImGui::SameLine(0, gap);
  const float seek = ImGui::GetContentRegionAvail().x - right - gap;
  if (seekable && seek > ctx.px(30)) {
    draw_seek_bar(ctx, seek);
  } else {
    ImGui::Dummy({std::max(seek, 0.f), 1});
  }
  ImGui::SameLine(0, gap);
  draw_sound(ctx, volume);
  ImGui::SameLine(0, gap);
  if (m.live) {
    draw_live(ctx);
  } else {
    draw_loop(ctx);
    ImGui::SameLine(0, ctx.px(2));
    draw_speed(ctx);
  }
  if (!tight) {
    ImGui::SameLine(0, gap);
    fixed_text(colour::dim, fps, "000.0 fps", true);
    ImGui::SameLine(0, gap);
    fixed_text(lost ? colour::accent : colour::dim, drops, "000 drops", true);
    ctx.item("transport", "drops", frame_count_lines(m.counts, m.live_status.live));
  }
  ImGui::SameLine(0, ctx.px(8));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ctx.px(4));
  if (ctx.state.panels) return fold_button(ctx, Icon::chevron_down, "bottom", ctx.state.bottom);
  if (icon_button(ctx.look, "##panels", Icon::chevron_up)) ctx.state.panels = true;
  ctx.item("panels", "show", "Show the panels", key_text(Action::panels));
}

}  // namespace lensd::ui
