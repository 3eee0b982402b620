// Draws the window with all columns of the timings, the latency by stages, and the machine's speed.
#include <imgui_internal.h>

#include <algorithm>

#include "ui/keys.hpp"
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {
namespace {

constexpr const char* kDetailsWindow = "##timings-details";

std::string rate_text(double rate) {
  return rate > 0 ? fmt::format("{:.1f} GB/s", rate * 1e-9) : "n/a";
}

void draw_details_head(PanelContext& ctx) {
  heading(ctx.look, "Timings");
  ImGui::SameLine();
  const FontScope font(ctx.look.small);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ctx.px(44));
  if (ImGui::SmallButton("Close")) ctx.state.timings_view.details = false;
  ctx.item("timings", "close", "Close the details", key_hint(Action::escape));
}

void draw_machine(PanelContext& ctx) {
  const ViewerModel& m = ctx.model;
  const auto line = [&](const char* name, const std::string& value, const std::string& doc,
                        const char* mark) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_coloured(colour::dim, name);
    ctx.item("machine", mark, doc);
    ImGui::TableNextColumn();
    text_coloured(value == "n/a" ? colour::faint : colour::text, value);
    tooltip(ctx.look, doc);
  };
  const auto clock = [](const ClockSpeed& speed) {
    return speed.mhz > 0 ? fmt::format("{} MHz", speed.mhz) : std::string("n/a");
  };
  const std::string rate_doc =
      "Bytes per second read and written by a copy of large pictures, measured once at the start. "
      "\"copy %\" is the share of it that a pass reads and writes. It counts bytes only; "
      "caches may be faster.";
  if (!ImGui::BeginTable("machine", 2, ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, ctx.px(124));
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  line("CPU memory copy", rate_text(m.cpu_copy_rate),
       m.cpu_copy_rate > 0 ? rate_doc : "Not measured: the graph does not run on the CPU", "cpu_copy");
  line("GPU memory copy", rate_text(m.gpu_copy_rate),
       m.gpu_copy_rate > 0 ? rate_doc : "Not measured: the graph does not run on the GPU", "gpu_copy");
  line("Graph's GPU memory", m.graph_memory > 0 ? memory_text(m.graph_memory) : "n/a",
       m.graph_memory > 0 ? kGraphMemoryDoc : "The graph does not run on the GPU", "graph_memory");
  line("CPU clock", clock(m.cpu_clock), m.cpu_clock.reason, "cpu_clock");
  line("GPU clock", clock(m.gpu_clock), m.gpu_clock.reason, "gpu_clock");
  ImGui::EndTable();
}

}  // namespace

void draw_timings_details(PanelContext& ctx) {
  if (!ctx.state.timings_view.details) return;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float width = std::min(ctx.px(740), display.x - ctx.px(24)),
              top = std::min(ctx.px(64), display.y * 0.1f);
  TimingsState& s = ctx.state.timings_view;
  // Fit the height to the content and keep the upper edge in place when rows change. Longer content scrolls.
  const float room = display.y - ctx.px(12) - std::max(ctx.px(s.details_y), top);
  const float height = std::min(ctx.px(s.details_height), std::max(room, ctx.px(120)));
  ImGui::SetNextWindowPos({(display.x - width) * 0.5f, top}, ImGuiCond_Appearing);
  // Stay inside a window that became smaller, for example because fullscreen ended.
  if (const ImGuiWindow* shown = ImGui::FindWindowByName(kDetailsWindow); shown && shown->WasActive) {
    const ImVec2 most{std::max(display.x - width - ctx.px(12), 0.f), std::max(display.y - ctx.px(132), top)};
    if (shown->Pos.x > most.x || shown->Pos.y > most.y)
      ImGui::SetNextWindowPos({std::min(shown->Pos.x, most.x), std::min(shown->Pos.y, most.y)});
  }
  ImGui::SetNextWindowSize({width, height});
  const VarScope window_rounding(ImGuiStyleVar_WindowRounding, ctx.px(6));
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(18), ctx.px(14)});
  const VarScope window_border_size(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::gray(32));
  ImGui::Begin(kDetailsWindow, nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  draw_details_head(ctx);
  ImGui::PushFont(ctx.look.small);
  ImGui::Dummy({0, ctx.px(4)});
  draw_timings_table(ctx, "details", true);
  ImGui::Dummy({0, ctx.px(8)});
  draw_latency_table(ctx);
  ImGui::Dummy({0, ctx.px(8)});
  draw_machine(ctx);
  ImGui::PopFont();
  const float bottom = ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y;
  s.details_height = (bottom + ctx.px(14)) / ctx.look.scale;
  s.details_y = ImGui::GetWindowPos().y / ctx.look.scale;
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace lensd::ui
