// What lies over the picture: notices and the numbers of `i`.
#include <algorithm>
#include <array>

#include "ui/panel.hpp"
#include "ui/panels/timings.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kNoticeNs = 5'000'000'000, kProblemNs = 10'000'000'000;
constexpr int kMostNotices = 4;

/// A box with lines of text on the picture.
void draw_box(PanelContext& ctx, ImVec2 at, const std::string& text, ImU32 ink, bool problem) {
  const float pad = ctx.px(10);
  const float bar = problem ? ctx.px(3) : 0;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const ImVec2 corner{at.x + size.x + 2 * pad + bar, at.y + size.y + pad * 1.4f};
  // On the picture, or on the window that lies over it: what was asked for there is answered there.
  const bool over = ctx.state.timings_view.details;
  ImDrawList& list = over ? *ImGui::GetForegroundDrawList() : *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(at, corner, colour::gray(20, over ? 245 : 215), ctx.px(4));
  if (problem)
    list.AddRectFilled({at.x, at.y}, {at.x + bar, corner.y}, colour::problem, ctx.px(4),
                       ImDrawFlags_RoundCornersLeft);
  list.AddText({at.x + bar + pad, at.y + pad * 0.7f}, ink, text.c_str());
}

/// A line of the numbers of `i`: what it is, and up to three columns.
struct StatsLine {
  std::string name;
  std::array<std::string, 3> cells;
};

std::vector<StatsLine> stats_lines(const PanelContext& ctx, double scale) {
  const ViewerModel& m = ctx.model;
  const UiState& s = ctx.state;
  const FrameCounts& c = m.counts;
  const auto count = [](uint64_t n, const char* what) { return fmt::format("{} {}", n, what); };
  std::vector<StatsLine> lines{
      {"frame", {fmt::format("{}", m.frame_index), clock_text(m.position_ns, false), ""}},
      {"frames a second",
       {fmt::format("source {:.2f}", m.source_fps), fmt::format("graph {:.1f}", s.decode_fps),
        fmt::format("shown {:.1f}", s.display_fps)}},
      {"frames", {count(c.processed, "made"), count(c.shown, "shown"), count(c.not_shown, "not shown")}},
      {"lost",
       {count(c.drops(), c.drops() == 1 ? "drop" : "drops"), count(c.late, "late"),
        count(c.repeated, "repeated")}},
      {"picture",
       {fmt::format("{}×{}", m.picture.width, m.picture.height), fmt::format("at {:.1f} %", scale * 100),
        ""}},
      {"backend, display", {m.backend, m.display_path, ""}},
      {"panels", {fmt::format("{:.2f} ms", s.panels_ms), "", ""}},
      {"latency, ms", {"p50", "p95", "p99"}}};
  const auto stage = [&](const char* label, const char* name) {
    const PassStats* row = latency_of(s.timings, name);
    const auto cell = [&](int64_t PassStats::*ns) { return row ? ms_text(row->*ns) : std::string("n/a"); };
    lines.push_back({label, {cell(&PassStats::p50_ns), cell(&PassStats::p95_ns), cell(&PassStats::p99_ns)}});
  };
  stage("decoded ahead", "ahead"), stage("graph", "graph"), stage("waiting for its time", "pace");
  stage("to the display", "texture"), stage("present", "present");
  stage("work, without the waits", "work"), stage("decode to present", "total");
  return lines;
}

/// Texts below one another, from a corner on.
struct StatsBox {
  const PanelContext& ctx;
  ImVec2 corner;
  float width;  ///< of the texts
  float y = corner.y + ctx.px(10);

  void at(float x, ImU32 ink, const std::string& what) const {
    ImGui::GetBackgroundDrawList()->AddText({corner.x + ctx.px(10) + x, y}, ink, what.c_str());
  }
  /// Wrapped, and on to the next line.
  void text(ImU32 ink, const std::string& what) {
    ImGui::GetBackgroundDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                                            {corner.x + ctx.px(10), y}, ink, what.c_str(), nullptr, width);
    y += ImGui::CalcTextSize(what.c_str(), nullptr, false, width).y + ctx.px(2);
  }
};

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
    const std::string lines = wrapped(text, wrap);
    y -= ImGui::CalcTextSize(lines.c_str()).y + ctx.px(14);
    draw_box(ctx, {area.x + margin, y}, lines, colour::text, problem);
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
  const std::vector<StatsLine> lines = stats_lines(ctx, scale);
  ImGui::PushFont(ctx.look.small);
  // Below what lies over the picture's upper rim. Columns are as wide as their widest texts, which do not
  // jump.
  const float bars =
      (ctx.state.panels ? 40.f : 0.f) + (ctx.state.compare.mode != CompareMode::off ? 64.f : 0.f);
  const float names = ctx.px(148), column = ctx.px(88), most = area.w - ctx.px(28);
  const bool table = names + 3 * column + ctx.px(20) <= most;
  StatsBox box{
      ctx, {area.x + ctx.px(14), area.y + ctx.px(10 + bars)}, table ? names + 3 * column : most - ctx.px(20)};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect({area.x, area.y}, {area.x + area.w, area.y + area.h}, true);
  // The ground is drawn first and its height known last.
  list.ChannelsSplit(2);
  list.ChannelsSetCurrent(1);
  box.text(colour::text, elided(m.source_name, box.width));
  box.text(colour::dim, m.source_detail);
  box.y += ctx.px(4);
  for (const StatsLine& line : lines) {
    const ImU32 ink = line.cells[2] == "p99" ? colour::dim : colour::text;
    if (!table) {
      std::string joined = line.name;
      for (const std::string& cell : line.cells)
        if (!cell.empty()) joined += (joined == line.name ? ":  " : ",  ") + cell;
      box.text(ink, joined);
      continue;
    }
    box.at(0, colour::dim, line.name);
    for (size_t i = 0; i < line.cells.size(); ++i)
      box.at(names + column * static_cast<float>(i), ink, line.cells[i]);
    box.y += ImGui::GetTextLineHeight() + ctx.px(2);
  }
  if (m.live_status.live) {
    box.y += ctx.px(6);
    box.text(colour::text, live_text(m.live_status, ctx.time_ns));
    if (!m.live_status.reason.empty()) box.text(colour::dim, m.live_status.reason);
    box.y += ctx.px(6);
    box.text(colour::text, frame_count_lines(m.counts, true));
  }
  list.ChannelsSetCurrent(0);
  const float pad = ctx.px(10);
  list.AddRectFilled(box.corner, {box.corner.x + box.width + 2 * pad, box.y + pad}, colour::gray(20, 215),
                     ctx.px(4));
  list.ChannelsMerge();
  list.PopClipRect();
  ImGui::PopFont();
}

}  // namespace lensd::ui
