// Draws the status: source, backend and display path with the reasons for their choice, GPU memory, sound,
// the graph's frame rate, frame counts and latency.
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/panels/timings/timings.hpp"

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

void live_row(PanelContext& ctx, const LiveStatus& live) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text_coloured(colour::dim, "state");
  ImGui::TableNextColumn();
  ImGui::PushTextWrapPos(0);
  state_dot(ctx.look, live.state);
  text_coloured(colour::text,
                fmt::format("{} for {}", name(live.state), brief_time(ctx.time_ns - live.since_ns)));
  ctx.mark("status", "state");
  if (!live.reason.empty()) text_coloured(colour::dim, live.reason);
  text_coloured(colour::dim, fmt::format("{}, {}, {}", count_text(live.reconnects, "reconnect"),
                                         count_text(live.stalls, "stall"),
                                         count_text(live.attempts, "connection attempt")));
  ImGui::PopTextWrapPos();
  if (live.rate > 0) {
    row(ctx, "rate",
        live.nominal_rate > 0 ? fmt::format("{:.2f} of {:.4g} fps", live.rate, live.nominal_rate)
                              : fmt::format("{:.2f} fps", live.rate));
    tooltip(ctx.look,
            "Pictures per second over the last five seconds, by the driver's timestamps or the time of "
            "arrival, and the "
            "rate that the source announces.");
  }
  if (live.latency_ns < 0) return;
  row(ctx, "delay", fmt::format("{} ms", ms_text(live.latency_ns)));
  tooltip(ctx.look,
          "Delay of the newest picture against the fastest arrival so far, by timestamps: what queues in the "
          "network and in decoders add. For cameras: the time since capture.");
}

void lost_rows(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const FrameCounts& c = m.counts;
  const bool live = m.live_status.live;
  std::string detail;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", count, what);
  };
  add(c.camera_broken, "damaged"), add(c.camera_missed, "missed by the driver");
  add(c.replaced_source, "at the source"), add(c.replaced_graph, "before the graph");
  add(c.late, "late"), add(c.recorder, "not recorded"), add(c.stream, "not sent");
  const auto explain = [&] {
    if (tooltip_due()) tooltip(ctx.look, frame_count_lines(c, live));
  };
  row(ctx, "frames",
      live ? fmt::format("{} received, {} processed", c.received, c.processed)
           : fmt::format("{} processed", c.processed));
  explain();
  row(ctx, "drops", fmt::format("{}", c.drops()), detail);
  explain();
  row(ctx, "shown", fmt::format("{}", c.shown),
      fmt::format("{} finished but not shown, {} repeated", c.not_shown, c.repeated));
  explain();
}

}  // namespace

void draw_status_panel(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const FontScope font(ctx.look.small);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ctx.px(8), ctx.px(1)});
  if (ImGui::BeginTable("status", 2, ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, ctx.px(62));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    row(ctx, "source", m.source_name, m.source_detail);
    if (m.live && m.live_status.live) live_row(ctx, m.live_status);
    row(ctx, "backend", m.device.empty() ? m.backend : fmt::format("{} · {}", m.backend, m.device),
        m.backend_reason);
    if (m.graph_memory > 0) {
      row(ctx, "memory", memory_text(m.graph_memory) + " of GPU memory");
      tooltip(ctx.look, kGraphMemoryDoc);
    }
    row(ctx, "display", m.screen.empty() ? m.display_path : fmt::format("{} · {}", m.display_path, m.screen),
        m.display_reason);
    row(ctx, "sound", m.muted ? "muted" : fmt::format("{:.0f} %", m.volume), sound_reason(m.sound));
    row(ctx, "graph", fmt::format("{:.1f} fps", ctx.state.graph_fps));
    lost_rows(ctx);
    const PassStats *work = latency_of(ctx.state.timings, "work"),
                    *total = latency_of(ctx.state.timings, "total");
    if (work && total)
      row(ctx, "latency", fmt::format("{} ms, p99 {}", ms_text(work->p50_ns), ms_text(work->p99_ns)),
          fmt::format("decode to present, waits included: {} ms, p99 {}", ms_text(total->p50_ns),
                      ms_text(total->p99_ns)));
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
  ImGui::Dummy({0, ctx.px(2)});
  if (ImGui::Button("Log")) ctx.state.log.open = !ctx.state.log.open;
  ctx.item("status", "log", "Messages so far", key_hint(Action::log));
}

}  // namespace lensd::ui
