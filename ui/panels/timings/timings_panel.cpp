// Draws the time of every pass, the graph's share of the frame duration, and the graph's newest durations.
#include <algorithm>

#include "ui/keys.hpp"
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kFrame60 = 16'666'667, kCsvCopiedShown = 2'000'000'000;

struct Part {
  const std::string* node;
  int64_t ns = 0;
};

/// Returns the graph's nodes with the sum of their passes' p50, without scopes.
std::vector<Part> parts_of_graph(const PanelContext& ctx) {
  std::vector<Part> parts;
  for (const TimingRow& row : ctx.state.timing_rows) {
    const PassStats& stats = ctx.state.timings[row.stats];
    if (row.group != TimingGroup::graph || stats.count == 0) continue;
    if (parts.empty() || *parts.back().node != row.node) parts.push_back({&row.node});
    parts.back().ns += stats.p50_ns;
  }
  return parts;
}

void draw_segments(PanelContext& ctx, const std::vector<Part>& parts, ImVec2 at, ImVec2 size, int64_t full,
                   bool over) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  const float pointer = ImGui::GetIO().MousePos.x;
  int64_t sum = 0;
  const auto x_of = [&](int64_t ns) { return at.x + size.x * std::min(1.f, share(ns, full)); };
  for (size_t i = 0; i < parts.size(); ++i) {
    const float from = x_of(sum), to = std::max(x_of(sum += parts[i].ns), from + 1);
    // Alternating tones separate neighbours.
    const ImU32 tone = over         ? (i % 2 ? IM_COL32(178, 82, 73, 255) : colour::problem)
                       : i % 2 == 0 ? colour::accent
                                    : IM_COL32(178, 129, 60, 255);
    list.AddRectFilled({from, at.y}, {to, at.y + size.y}, tone);
    if (hovered && pointer >= from && pointer < to)
      tooltip(ctx.look, fmt::format("{}: {} ms", *parts[i].node, ms_text(parts[i].ns)));
  }
  // Scopes and comparison run with the graph but are not part of it. Draw them after its nodes, in grey.
  const int64_t measuring = scope_cost_ns(ctx.state, false) + scope_cost_ns(ctx.state, true);
  if (measuring == 0) return;
  const float from = x_of(sum), to = x_of(sum + measuring);
  list.AddRectFilled({from, at.y}, {to, at.y + size.y}, colour::gray(110));
  if (hovered && pointer >= from && pointer < to)
    tooltip(ctx.look, fmt::format("scopes and comparison: {} ms more", ms_text(measuring)));
}

/// Draws one segment per node. The bar's full width is the source's frame duration or 1/60 s, whichever is
/// longer. A line marks the shorter one.
void draw_budget(PanelContext& ctx) {
  const std::vector<Part> parts = parts_of_graph(ctx);
  int64_t total = 0;
  for (const Part& part : parts) total += part.ns;
  const int64_t budget = ctx.model.frame_duration_ns;
  const bool measured = !parts.empty(), over = budget > 0 && total > budget;
  text_coloured(colour::dim, "Graph");
  ImGui::SameLine();
  if (!measured)
    text_right(colour::faint, "n/a");
  else if (budget <= 0)
    text_right(colour::text, fmt::format("{} ms", ms_text(total)));
  else
    text_right(over ? colour::problem : colour::text,
               fmt::format("{} of {} ms", ms_text(total), ms_text(budget)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, ctx.px(10)};
  ImGui::InvisibleButton("##budget", size);
  ctx.mark("timings", "budget");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour::field);
  const int64_t full = std::max(budget, kFrame60);
  if (measured) draw_segments(ctx, parts, at, size, full, over);
  const auto line_at = [&](int64_t ns, ImU32 ink) {
    const float x = at.x + size.x * share(ns, full);
    list.AddLine({x, at.y - ctx.px(2)}, {x, at.y + size.y + ctx.px(2)}, ink, std::max(1.f, ctx.px(1)));
  };
  if (budget > 0 && budget < full) line_at(budget, colour::gray(160));
  if (full > kFrame60 + kFrame60 / 50) {
    line_at(kFrame60, colour::gray(200));
    list.AddText({at.x + size.x * share(kFrame60, full) + ctx.px(3), at.y + size.y}, colour::faint, "60 fps");
    ImGui::Dummy({0, ImGui::GetTextLineHeight() - ctx.px(4)});
  }
}

/// Draws the newest frames' durations as bars. The full height is the longest duration. If the source's frame
/// duration is less than twice the longest duration, a line marks it, and the full height is at least the
/// frame duration.
void draw_history(PanelContext& ctx) {
  const auto& history = ctx.state.history_ns;
  if (ctx.model.graph.nodes.empty()) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ctx.px(36), step = ctx.px(3);
  // Reserve the space before the first measurement, so that the layout does not move.
  ImGui::InvisibleButton("##history", {width, height});
  if (history.empty()) return;
  const auto room = static_cast<size_t>(width / step);
  const size_t count = std::min(history.size(), room), first = history.size() - count;
  int64_t top = 1;
  for (size_t i = first; i < history.size(); ++i) top = std::max(top, history[i]);
  const int64_t budget = ctx.model.frame_duration_ns;
  const bool line = budget > 0 && top > budget / 2;
  if (line) top = std::max(top, budget);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (size_t i = 0; i < count; ++i) {
    const int64_t v = history[first + i];
    const float h = std::max(1.f, (height - 2) * share(v, top));
    const float x = at.x + width - static_cast<float>(count - i) * step;
    list.AddRectFilled({x, at.y + height - h}, {x + step - 1, at.y + height},
                       budget > 0 && v > budget ? colour::problem : colour::gray(96));
  }
  if (line) {
    const float y = at.y + height - (height - 2) * share(budget, top);
    list.AddLine({at.x, y}, {at.x + width, y}, colour::accent_soft);
  }
  tooltip(ctx.look,
          fmt::format("The graph's time for the last {} frames; full height is {} ms", count, ms_text(top)));
}

bool text_button(PanelContext& ctx, const char* label, const char* mark, const char* doc,
                 std::string_view key = {}) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ctx.px(7), ctx.px(2)});
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleVar();
  ctx.item("timings", mark, doc, key);
  return pressed;
}

void draw_buttons(PanelContext& ctx, ViewerRequests& requests) {
  TimingsState& s = ctx.state.timings_view;
  if (text_button(ctx, "Details", "details", "All columns, the latency by stages, the machine's speed"))
    s.details = !s.details;
  ImGui::SameLine(0, ctx.px(4));
  const bool copied = s.copied_at_ns > 0 && ctx.time_ns - s.copied_at_ns < kCsvCopiedShown;
  if (text_button(ctx, copied ? "Copied###csv" : "Copy CSV###csv", "csv",
                  "Copy all rows and columns to the clipboard, for a spreadsheet")) {
    ImGui::SetClipboardText(timings_csv(ctx.model, ctx.state.timings).c_str());
    s.copied_at_ns = ctx.time_ns;
  }
  ImGui::SameLine(0, ctx.px(4));
  if (text_button(ctx, "Trace", "trace",
                  "Write a trace of the last 10 seconds for ui.perfetto.dev: every thread and stream, "
                  "the queues, and each frame's stages",
                  key_hint(Action::trace)))
    requests.trace = true;
}

}  // namespace

void draw_timings_panel(PanelContext& ctx, ViewerRequests& requests) {
  const FontScope font(ctx.look.small);
  draw_budget(ctx);
  draw_history(ctx);
  draw_timings_table(ctx, "timings", false);
  draw_buttons(ctx, requests);
}

}  // namespace lensd::ui
