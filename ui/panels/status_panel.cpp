// Where the picture comes from, what runs it, and why each path was taken.
#include "ui/panel.hpp"
#include "ui/timings.hpp"

namespace lensd::ui {
namespace {

void row(PanelContext& ctx, const char* name, std::string_view value, std::string_view reason = {}) {
  if (value.empty()) return;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text_coloured(colour::dim, name);
  ImGui::TableNextColumn();
  ImGui::PushTextWrapPos(0);
  text_coloured(colour::text, value);
  if (!reason.empty()) text_coloured(colour::dim, reason);
  ImGui::PopTextWrapPos();
  ctx.mark("status", name);
}

/// A dot in the state's colour, since when, why, and how often it was so.
void live_row(PanelContext& ctx, const LiveStatus& live) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text_coloured(colour::dim, "state");
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float radius = ctx.px(3.5f);
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {at.x + radius, at.y + ImGui::GetFontSize() * 0.5f + ctx.px(0.5f)}, radius, state_colour(live.state),
      20);
  ImGui::SetCursorScreenPos({at.x + 2 * radius + ctx.px(6), at.y});
  text_coloured(
      colour::text,
      fmt::format(
          "{} for {}", name(live.state),
          clock_text((ctx.time_ns - live.since_ns) / 1'000'000'000 * 1'000'000'000, false).substr(0, 5)));
  ImGui::PushTextWrapPos(0);
  if (!live.reason.empty()) text_coloured(colour::dim, live.reason);
  text_coloured(colour::dim, fmt::format("{} {}, {} {}", live.reconnects,
                                         live.reconnects == 1 ? "reconnect" : "reconnects", live.stalls,
                                         live.stalls == 1 ? "stall" : "stalls"));
  ImGui::PopTextWrapPos();
  ctx.mark("status", "state");
}

}  // namespace

void draw_status_panel(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  ImGui::PushFont(ctx.look.small);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(1)});
  if (ImGui::BeginTable("status", 2, ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, ctx.px(62));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    row(ctx, "source", m.source_name, m.source_detail);
    if (m.live && m.live_status.live) live_row(ctx, m.live_status);
    row(ctx, "backend", m.device.empty() ? m.backend : fmt::format("{} · {}", m.backend, m.device),
        m.backend_reason);
    row(ctx, "display", m.display_path, m.display_reason);
    row(ctx, "decode", ctx.state.decode_fps > 0 ? fmt::format("{:.1f} fps", ctx.state.decode_fps) : "");
    row(ctx, "frames", fmt::format("{} processed, {} shown", m.frames_processed, m.frames_shown));
    row(ctx, "lost", fmt::format("{} dropped, {} late", m.frames_dropped, m.frames_late),
        fmt::format("{} not shown, {} repeated", m.frames_not_shown, m.frames_repeated));
    tooltip(ctx.look,
            "Dropped: the recorder was too slow for a live source\n"
            "Late: the graph or the decoder was slower than the source's pace\n"
            "Not shown: a newer frame came before the display took it\n"
            "Repeated: frame times through which the frame before stayed on the screen");
    const PassStats *work = latency_of(ctx.state.timings, "work"),
                    *total = latency_of(ctx.state.timings, "total");
    if (work && total)
      row(ctx, "latency", fmt::format("{} ms, p99 {}", ms_text(work->p50_ns), ms_text(work->p99_ns)),
          fmt::format("decode to present, waits included: {}, p99 {}", ms_text(total->p50_ns),
                      ms_text(total->p99_ns)));
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
  ImGui::Dummy({0, ctx.px(2)});
  if (ImGui::Button("Log")) ctx.state.log.open = !ctx.state.log.open;
  ctx.mark("status", "log");
  tooltip(ctx.look, "Messages so far", "e");
  ImGui::PopFont();
}

}  // namespace lensd::ui
