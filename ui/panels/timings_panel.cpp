// What every pass costs, and how much of the source's frame time the graph takes.
#include <algorithm>

#include "core/base/clock.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

bool of_graph(const ViewerModel& model, const PassStats& row) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const NodeView& n) { return n.id == row.node; });
}

struct Column {
  const char* name;
  int64_t PassStats::*value;
  int rank;  ///< columns of higher rank go first where the panel is narrow
};
constexpr Column kColumns[] = {{"last", &PassStats::last_ns, 2},
                               {"p50", &PassStats::p50_ns, 0},
                               {"p95", &PassStats::p95_ns, 1},
                               {"p99", &PassStats::p99_ns, 0},
                               {"max", &PassStats::max_ns, 3}};

std::string row_tooltip(const PassStats& row) {
  std::string text = fmt::format("{} / {}, measured on the {}", row.node, row.pass, row.gpu ? "GPU" : "CPU");
  if (row.count == 0) return text + "\nnot measured yet";
  text += fmt::format("\nmean {} ms over {} of {} frames", ms_text(row.mean_ns), row.samples, row.count);
  const double seconds = to_s(row.p50_ns);
  if (row.bytes > 0 && seconds > 0)
    text +=
        fmt::format("\n{:.2f} MB a frame, {:.1f} GB/s at p50", row.bytes * 1e-6, row.bytes / seconds * 1e-9);
  if (row.operations > 0 && seconds > 0)
    text += fmt::format("\n{:.1f} Gop/s at p50", row.operations / seconds * 1e-9);
  return text;
}

void draw_row(PanelContext& ctx, const PassStats& row, bool same_node, int max_rank) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  // A scope's node is named after its pass.
  const bool single = row.node == row.pass || row.node.ends_with("." + row.pass);
  const std::string label = single      ? row.node
                            : same_node ? fmt::format("  {}", row.pass)
                                        : fmt::format("{} {}", row.node, row.pass);
  const std::string shown = elided(label, ImGui::GetContentRegionAvail().x);
  if (single || same_node) {
    text_coloured(same_node && !single ? colour::dim : colour::text, shown);
  } else {
    // The node's name stands out from its first pass.
    const size_t cut = std::min(row.node.size(), shown.size());
    text_coloured(colour::text, std::string_view(shown).substr(0, cut));
    ImGui::SameLine(0, 0);
    text_coloured(colour::dim, std::string_view(shown).substr(cut));
  }
  tooltip(ctx.look, row_tooltip(row));
  ImGui::TableNextColumn();
  text_right(colour::faint, row.gpu ? "GPU" : "CPU");
  for (const Column& column : kColumns) {
    if (column.rank > max_rank) continue;
    ImGui::TableNextColumn();
    const bool main = column.value == &PassStats::p50_ns;
    if (row.count == 0) {
      text_right(colour::faint, "n/a");
    } else {
      text_right(main ? colour::text : colour::dim, ms_text(row.*column.value));
    }
  }
}

/// `graph`: the graph's rows, or those around it (decode, upload, present).
void draw_rows(PanelContext& ctx, bool graph, int max_rank) {
  const std::string* previous = nullptr;
  for (const PassStats& row : ctx.state.timings) {
    if (!row.active || of_graph(ctx.model, row) != graph) continue;
    draw_row(ctx, row, previous && *previous == row.node, max_rank);
    previous = &row.node;
  }
}

void draw_table(PanelContext& ctx) {
  const float number = ImGui::CalcTextSize("99.99").x + ctx.px(2), mark = ImGui::CalcTextSize("GPU").x;
  const float cell = ctx.px(8), room = ImGui::GetContentRegionAvail().x;
  int max_rank = 3, columns = 5;
  while (max_rank > 0 && room - mark - cell - static_cast<float>(columns) * (number + cell) < ctx.px(84))
    --max_rank, columns = max_rank + 2;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
  if (ImGui::BeginTable("timings", columns + 2,
                        ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableSetupColumn("pass", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("on", ImGuiTableColumnFlags_WidthFixed, mark);
    for (const Column& c : kColumns)
      if (c.rank <= max_rank) ImGui::TableSetupColumn(c.name, ImGuiTableColumnFlags_WidthFixed, number);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_coloured(colour::faint, "ms");
    ImGui::TableNextColumn();
    for (const Column& c : kColumns) {
      if (c.rank > max_rank) continue;
      ImGui::TableNextColumn();
      text_right(colour::faint, c.name);
    }
    draw_rows(ctx, true, max_rank);
    ImGui::TableNextRow(0, ctx.px(6));
    draw_rows(ctx, false, max_rank);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

/// One segment a node, side by side, against the time that a frame of the source lasts.
void draw_budget(PanelContext& ctx) {
  int64_t total = 0;
  bool measured = false;
  for (const PassStats& row : ctx.state.timings)
    if (row.active && row.count > 0 && of_graph(ctx.model, row)) total += row.p50_ns, measured = true;
  const int64_t budget = ctx.model.frame_duration_ns;
  text_coloured(colour::dim, "Graph");
  ImGui::SameLine();
  if (!measured) {
    text_right(colour::faint, "n/a");
  } else if (budget <= 0) {
    text_right(colour::text, fmt::format("{} ms", ms_text(total)));
  } else {
    const bool over = total > budget;
    text_right(over ? colour::problem : colour::text,
               fmt::format("{} of {} ms", ms_text(total), ms_text(budget)));
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ctx.px(8);
  ImGui::InvisibleButton("##budget", {width, height});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, colour::field, ctx.px(3));
  if (measured && budget > 0) {
    const double share = std::min(1.0, static_cast<double>(total) / static_cast<double>(budget));
    const float fill = std::max(ctx.px(2), width * static_cast<float>(share));
    list.AddRectFilled(at, {at.x + fill, at.y + height}, total > budget ? colour::problem : colour::accent,
                       ctx.px(3));
    int64_t sum = 0;
    for (const PassStats& row : ctx.state.timings) {
      if (!row.active || row.count == 0 || !of_graph(ctx.model, row)) continue;
      sum += row.p50_ns;
      const float x = at.x + fill * static_cast<float>(static_cast<double>(sum) / static_cast<double>(total));
      if (sum < total && fill > ctx.px(12))
        list.AddRectFilled({x, at.y}, {x + 1, at.y + height}, colour::panel);
    }
  }
  tooltip(ctx.look, "Sum of the passes' p50 against the time that one frame of the source lasts");
}

/// The newest frames as bars, scaled to the budget or to the highest bar beyond it.
void draw_history(PanelContext& ctx) {
  const auto& history = ctx.state.history_ns;
  if (history.empty()) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ctx.px(36), step = ctx.px(3);
  ImGui::InvisibleButton("##history", {width, height});
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
    const float h =
        std::max(1.f, (height - 2) * static_cast<float>(static_cast<double>(v) / static_cast<double>(top)));
    const float x = at.x + width - static_cast<float>(count - i) * step;
    list.AddRectFilled({x, at.y + height - h}, {x + step - 1, at.y + height},
                       budget > 0 && v > budget ? colour::problem : colour::gray(96));
  }
  if (line) {
    const float y = at.y + height -
                    (height - 2) * static_cast<float>(static_cast<double>(budget) / static_cast<double>(top));
    list.AddLine({at.x, y}, {at.x + width, y}, colour::accent_soft);
  }
  tooltip(ctx.look,
          fmt::format("The graph's time for the last {} frames; full height is {} ms", count, ms_text(top)));
}

}  // namespace

void draw_timings_panel(PanelContext& ctx) {
  ImGui::PushFont(ctx.look.small);
  draw_budget(ctx);
  draw_history(ctx);
  draw_table(ctx);
  ImGui::PopFont();
}

}  // namespace lensd::ui
