// Draws notices, the state of a live source, and statistics over the picture.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text/text.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kHintNs = 5'000'000'000;
constexpr int kMaxNotices = 4;
constexpr size_t kNoticeLength = 500;  ///< bytes; the log has the whole text

void draw_box(PanelContext& ctx, ImVec2 at, const std::string& text, ImU32 ink, bool problem) {
  const float pad = ctx.px(10);
  const float bar = problem ? ctx.px(3) : 0;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const ImVec2 corner{at.x + size.x + 2 * pad + bar, at.y + size.y + pad * 1.4f};
  // While the timings window is open, draw over it, because its buttons also add notices.
  const bool over = ctx.state.timings_view.details;
  ImDrawList& list = over ? *ImGui::GetForegroundDrawList() : *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(at, corner, colour::over_picture, ctx.px(4));
  if (problem)
    list.AddRectFilled({at.x, at.y}, {at.x + bar, corner.y}, colour::problem, ctx.px(4),
                       ImDrawFlags_RoundCornersLeft);
  list.AddText({at.x + bar + pad, at.y + pad * 0.7f}, ink, text.c_str());
}

/// A line of the statistics: a name and up to three columns.
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
      {"frame",
       {fmt::format("{}{}", m.frame_estimated ? "~" : "", m.frame_index), clock_text(m.position_ns, false),
        ""}},
      {"fps",
       {fmt::format("source {:.2f}", m.source_fps), fmt::format("graph {:.1f}", s.graph_fps),
        fmt::format("shown {:.1f}", s.display_fps)}},
      {"frames", {count(c.processed, "made"), count(c.shown, "shown"), count(c.not_shown, "not shown")}},
      {"lost", {count_text(c.drops(), "drop"), count(c.late, "late"), count(c.repeated, "repeated")}},
      {"picture",
       {fmt::format("{}×{}", m.picture.width, m.picture.height), fmt::format("at {:.1f} %", scale * 100),
        ""}},
      {"backend, display", {m.backend, m.display_path, ""}},
      {"panels", {fmt::format("{:.2f} ms", s.panels_ms), "", ""}},
      {"latency, ms", {"p50", "p95", "p99"}}};
  for (const LatencyStage& stage : latency_stages()) {
    const PassStats* row = latency_of(s.timings, stage.name);
    const auto cell = [&](int64_t PassStats::*ns) { return row ? ms_text(row->*ns) : std::string("n/a"); };
    lines.push_back(
        {stage.label, {cell(&PassStats::p50_ns), cell(&PassStats::p95_ns), cell(&PassStats::p99_ns)}});
  }
  return lines;
}

struct StatsBox {
  const PanelContext& ctx;
  ImVec2 corner;
  float width;  ///< width of the text lines
  float y = corner.y + ctx.px(10);

  void at(float x, ImU32 ink, const std::string& what) const {
    ImGui::GetBackgroundDrawList()->AddText({corner.x + ctx.px(10) + x, y}, ink, what.c_str());
  }
  /// Draws wrapped text and advances `y` below it.
  void text(ImU32 ink, const std::string& what) {
    ImGui::GetBackgroundDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                                            {corner.x + ctx.px(10), y}, ink, what.c_str(), nullptr, width);
    y += ImGui::CalcTextSize(what.c_str(), nullptr, false, width).y + ctx.px(2);
  }
};

/// Returns the state of a file whose next picture does not arrive, in the form of a live source's state.
LiveStatus stalled_file(const ViewerModel& m) {
  LiveStatus status;
  status.live = true, status.state = LiveState::stalled, status.since_ns = m.stalled_since_ns;
  status.reason = "The next picture has not arrived.";
  return status;
}

}  // namespace

void draw_notices(PanelContext& ctx, const Rect& area) {
  const float margin = ctx.px(14), gap = ctx.px(6);
  const float width = std::min(area.w - 2 * margin, ctx.px(460));
  if (width < ctx.px(60)) return;
  // Stack the notices from the bottom left corner upwards, newest first.
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
  if (ctx.state.bypass) show(fmt::format("Graph bypassed while {} is held", key_text(Action::bypass)), false);
  if (const std::string& solo = ctx.state.editor.solo(); !solo.empty())
    show(fmt::format("Solo: the graph up to {}", solo), false);
  if (!ctx.state.panels && ctx.time_ns - ctx.state.panels_hidden_ns < kHintNs) {
    show(fmt::format("{} shows the panels, {} the keys; the timeline is at the lower edge",
                     key_text(Action::panels), key_text(Action::help)),
         false);
    if (ctx.rects) (*ctx.rects)["panels/hint"] = {area.x + margin, y + gap, width, ctx.px(20)};
  }
  for (auto notice = ctx.model.notices.rbegin(); notice != ctx.model.notices.rend() && shown < kMaxNotices;
       ++notice) {
    const int64_t age = ctx.time_ns - notice->time_ns;
    if (age < 0 || age > notice->life_ns()) continue;
    show(shortened(notice->text, kNoticeLength), notice->problem);
  }
}

void draw_live_state(PanelContext& ctx, const Rect& area) {
  const LiveStatus live = ctx.model.stalled_since_ns > 0 ? stalled_file(ctx.model) : ctx.model.live_status;
  const float width = std::min(area.w - ctx.px(28), ctx.px(440)), pad = ctx.px(16);
  if (!live.live || live.state == LiveState::playing || width < ctx.px(80)) return;
  const float inner = width - 2 * pad, dot = ctx.px(4), indent = 2 * dot + ctx.px(8);
  std::string title = fmt::format("{} for {}", name(live.state), brief_time(ctx.time_ns - live.since_ns));
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  const std::string source = elided(ctx.model.source_name, inner);
  ImGui::PushFont(ctx.look.small);
  const std::string reason = wrapped(live.reason, inner);
  const float small = ImGui::CalcTextSize(reason.c_str()).y;
  ImGui::PopFont();
  const float line = ImGui::GetTextLineHeight(), gap = ctx.px(6);
  const float height = 2 * pad + 2 * line + gap + (reason.empty() ? 0 : gap + small);
  const ImVec2 at{std::floor(area.x + (area.w - width) * 0.5f),
                  std::floor(area.y + (area.h - height) * 0.5f)};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, colour::over_picture, ctx.px(5));
  if (ctx.rects) (*ctx.rects)["live/state"] = {at.x, at.y, width, height};
  float y = at.y + pad;
  const float x = at.x + pad;
  list.AddCircleFilled({x + dot, y + line * 0.5f + ctx.px(0.5f)}, dot, state_colour(live.state), 20);
  list.AddText(ctx.look.strong, ImGui::GetFontSize(), {x + indent, y}, colour::text, title.c_str());
  y += line + gap;
  list.AddText({x, y}, colour::text, source.c_str());
  if (reason.empty()) return;
  const FontScope font(ctx.look.small);
  list.AddText({x, y + line + gap}, colour::dim, reason.c_str());
}

void draw_stats_overlay(PanelContext& ctx, const Rect& area, const Rect& own) {
  const ViewerModel& m = ctx.model;
  const Placement placed = place(m.picture, own, ctx.state.view);
  // ImGui units differ from framebuffer pixels if the window system scales.
  const double scale = placed.scale * static_cast<double>(ImGui::GetIO().DisplayFramebufferScale.x);
  const std::vector<StatsLine> lines = stats_lines(ctx, scale);
  const FontScope font(ctx.look.small);
  // Fixed column widths keep numbers in place.
  const float names = ctx.px(148), column = ctx.px(88), most = area.w - ctx.px(28);
  const bool table = names + 3 * column + ctx.px(20) <= most;
  StatsBox box{ctx,
               {area.x + ctx.px(14), area.y + ctx.px(10) + bars_height(ctx, area)},
               table ? names + 3 * column : most - ctx.px(20)};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect({area.x, area.y}, {area.x + area.w, area.y + area.h}, true);
  // The background's height is known only after the text, so draw in two channels.
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
  list.AddRectFilled(box.corner, {box.corner.x + box.width + 2 * pad, box.y + pad}, colour::over_picture,
                     ctx.px(4));
  if (ctx.rects)
    (*ctx.rects)["stats"] = {box.corner.x, box.corner.y, box.width + 2 * pad, box.y + pad - box.corner.y};
  list.ChannelsMerge();
  list.PopClipRect();
}

}  // namespace lensd::ui
