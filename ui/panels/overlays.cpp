// What lies over the picture: notices, the numbers of `i`, the keys of `?`.
#include <algorithm>

#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/timings.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kNoticeNs = 5'000'000'000, kProblemNs = 10'000'000'000;
constexpr int kMostNotices = 4;

/// A box with text on the picture; returns its height.
float draw_box(PanelContext& ctx, ImVec2 at, float width, std::string_view text, ImU32 ink, bool problem) {
  const float pad = ctx.px(10), font_size = ImGui::GetFontSize();
  const float bar = problem ? ctx.px(3) : 0;
  const float wrap = width - 2 * pad - bar;
  const char *begin = text.data(), *end = text.data() + text.size();
  const ImVec2 size = ImGui::CalcTextSize(begin, end, false, wrap);
  const ImVec2 corner{at.x + size.x + 2 * pad + bar, at.y + size.y + pad * 1.4f};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(at, corner, colour::gray(20, 215), ctx.px(4));
  if (problem)
    list.AddRectFilled({at.x, at.y}, {at.x + bar, corner.y}, colour::problem, ctx.px(4),
                       ImDrawFlags_RoundCornersLeft);
  list.AddText(ImGui::GetFont(), font_size, {at.x + bar + pad, at.y + pad * 0.7f}, ink, begin, end, wrap);
  return corner.y - at.y;
}

/// The way of a frame in stages, p50 / p95 / p99.
std::string latency_lines(const std::vector<PassStats>& rows) {
  std::string text = "\nlatency p50 / p95 / p99 ms";
  const auto add = [&](const char* label, const char* stage) {
    const PassStats* row = latency_of(rows, stage);
    text += row ? fmt::format("\n  {} {} / {} / {}", label, ms_text(row->p50_ns), ms_text(row->p95_ns),
                              ms_text(row->p99_ns))
                : fmt::format("\n  {} n/a", label);
  };
  add("decoded ahead", "ahead"), add("graph", "graph"), add("waiting for its time", "pace");
  add("to the display", "texture"), add("present", "present");
  add("all without the waits", "work"), add("decode to present", "total");
  return text;
}

}  // namespace

void draw_notices(PanelContext& ctx, const Rect& area) {
  const float margin = ctx.px(14), gap = ctx.px(6);
  const float width = std::min(area.w - 2 * margin, ctx.px(460));
  if (width < ctx.px(60)) return;
  // Newest first, from the bottom left corner upwards: the eye's way from the transport bar.
  float y = area.y + area.h - margin;
  int shown = 0;
  const auto show = [&](std::string_view text, bool problem) {
    const float wrap = width - 2 * ctx.px(10) - (problem ? ctx.px(3) : 0);
    const float height =
        ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, wrap).y + ctx.px(14);
    y -= height;
    draw_box(ctx, {area.x + margin, y}, width, text, colour::text, problem);
    y -= gap;
    ++shown;
  };
  if (ctx.state.bypass) show("Graph bypassed while b is held", false);
  if (const std::string& solo = ctx.state.editor.solo(); !solo.empty())
    show(fmt::format("Solo: the graph up to {}", solo), false);
  for (auto notice = ctx.model.notices.rbegin(); notice != ctx.model.notices.rend() && shown < kMostNotices;
       ++notice) {
    const int64_t age = ctx.time_ns - notice->time_ns;
    if (age < 0 || age > (notice->problem ? kProblemNs : kNoticeNs)) continue;
    show(notice->text, notice->problem);
  }
}

void draw_stats_overlay(PanelContext& ctx, const Rect& area) {
  const ViewerModel& m = ctx.model;
  const Placement placed = place(m.picture, area, ctx.state.view);
  // ImGui units and framebuffer pixels differ where the window system scales.
  const double scale = placed.scale * static_cast<double>(ImGui::GetIO().DisplayFramebufferScale.x);
  std::string text = fmt::format(
      "{}\n{}\n"
      "frame {}  at {}\n"
      "source {:.2f} fps, decode {:.1f}, display {:.1f}\n"
      "picture {}×{} at {:.1f} %\n"
      "backend {}, display by {}\n"
      "panels {:.2f} ms",
      m.source_name, m.source_detail, m.frame_index, clock_text(m.position_ns, false), m.source_fps,
      ctx.state.decode_fps, ctx.state.display_fps, m.picture.width, m.picture.height, scale * 100, m.backend,
      m.display_path, ctx.state.panels_ms);
  text += latency_lines(ctx.state.timings);
  if (m.live_status.live)
    text += fmt::format("\n\n{}{}{}", live_text(m.live_status, ctx.time_ns),
                        m.live_status.reason.empty() ? "" : "\n", m.live_status.reason);
  text += "\n\nframes\n" + frame_count_lines(m.counts, m.live_status.live);
  const float margin = ctx.px(14);
  ImGui::PushFont(ctx.look.small);
  draw_box(ctx, {area.x + margin, area.y + margin}, std::max(area.w - 2 * margin, ctx.px(80)), text,
           colour::text, false);
  ImGui::PopFont();
}

void draw_keys_help(PanelContext& ctx) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x * 0.5f, display.y * 0.5f}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x - ctx.px(24), display.y - ctx.px(24)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ctx.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ctx.px(24), ctx.px(18)});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(8), ctx.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::gray(32, 246));
  ImGui::SetNextWindowFocus();
  ImGui::Begin("##keys", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
  heading(ctx.look, "Keys");
  ImGui::Dummy({0, ctx.px(4)});
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX)) {
    for (const KeyHelp& line : key_help()) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text_coloured(colour::accent, line.keys);
      ImGui::TableNextColumn();
      text_coloured(colour::text, line.what);
    }
    ImGui::EndTable();
  }
  const bool outside =
      ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows);
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(4);
  if (outside) ctx.state.help = false;
}

}  // namespace lensd::ui
