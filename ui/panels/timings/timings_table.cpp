#include <algorithm>
#include <tuple>

#include "core/base/clock.hpp"
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {
namespace {

constexpr int kNameColumn = -1;  ///< TimingsState::sort_column for the name

/// Draws a column header. Each click selects the next order: largest first, smallest first, the graph's
/// order. The name column starts with the smallest first.
void sort_header(PanelContext& ctx, const char* id, int column, const char* name, const char* doc,
                 bool right) {
  TimingsState& s = ctx.state.timings_view;
  const bool chosen = s.sorted && s.sort_column == column;
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(column);
  if (ImGui::InvisibleButton("##sort", {std::max(width, 1.f), ImGui::GetTextLineHeight()})) {
    const bool first_down = column != kNameColumn;
    if (!chosen)
      s.sorted = true, s.sort_column = column, s.descending = first_down;
    else if (s.descending == first_down)
      s.descending = !first_down;
    else
      s.sorted = false;
  }
  const bool hovered = ImGui::IsItemHovered();
  ctx.mark(id, "sort", name);
  if (tooltip_due()) tooltip(ctx.look, fmt::format("{}\nClick to sort", doc));
  ImGui::PopID();
  const float text_width = ImGui::CalcTextSize(name).x;
  const ImVec2 from{right ? at.x + std::max(width - text_width, 0.f) : at.x, at.y};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText(from, chosen ? colour::accent : hovered ? colour::text : colour::faint, name);
  if (!chosen) return;
  const float y = at.y + (s.descending ? ImGui::GetTextLineHeight() : 0.f);
  list.AddLine({from.x, y}, {from.x + text_width, y}, colour::accent, ctx.px(1));
}

void sparkline(PanelContext& ctx, const std::vector<int64_t>& values, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  ImGui::Dummy({width, height});
  if (values.empty()) return;
  const float step = ctx.px(2);
  const size_t count = std::min(values.size(), static_cast<size_t>(width / step));
  const auto begin = values.end() - static_cast<std::ptrdiff_t>(count);
  const int64_t top = std::max<int64_t>(1, *std::max_element(begin, values.end()));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = at.x + width - static_cast<float>(count) * step;
  for (auto v = begin; v != values.end(); ++v, x += step) {
    const float h = std::max(1.f, (height - ctx.px(3)) * share(*v, top));
    list.AddRectFilled({x, at.y + height - h}, {x + step - ctx.px(0.5f), at.y + height}, colour::gray(104));
  }
}

std::string row_tooltip(const ViewerModel& model, const PassStats& row) {
  std::string text = fmt::format("{} / {}, measured on the {}", row.node, row.pass, row.gpu ? "GPU" : "CPU");
  if (row.count == 0) return text + "\nnot measured yet";
  text += fmt::format("\nlast {}, p50 {}, p95 {}, p99 {}, max {} ms", ms_text(row.last_ns),
                      ms_text(row.p50_ns), ms_text(row.p95_ns), ms_text(row.p99_ns), ms_text(row.max_ns));
  text += fmt::format("\nmean {} ms over {} of {} frames", ms_text(row.mean_ns), row.samples, row.count);
  if (const double rate = transfer_rate(row); rate >= 0) {
    text += fmt::format("\n{:.2f} MB a frame, {:.1f} GB/s at p50", row.bytes * 1e-6, rate * 1e-9);
    const double share = roofline_share(model, row);
    text += share < 0
                ? "\nshare of the machine's copy rate: n/a"
                : fmt::format("\n{:.0f} % of the machine's memory copy rate, by bytes alone", share * 100);
  }
  if (row.operations > 0 && row.p50_ns > 0)
    text += fmt::format("\n{:.1f} Gop/s at p50", row.operations / to_s(row.p50_ns) * 1e-9);
  return text;
}

void name_cell(PanelContext& ctx, const TimingRow& row, bool same_node) {
  const std::string label = row.single  ? row.node
                            : same_node ? fmt::format("  {}", row.pass)
                                        : fmt::format("{} {}", row.node, row.pass);
  const std::string shown = elided(label, ImGui::GetContentRegionAvail().x);
  if (row.single || same_node) {
    text_coloured(same_node && !row.single ? colour::dim : colour::text, shown);
  } else {
    // Draw the node's name brighter than the name of its first pass.
    const size_t cut =
        row.node.size() < shown.size() && shown.starts_with(row.node) ? row.node.size() : shown.size();
    text_coloured(colour::text, std::string_view(shown).substr(0, cut));
    ImGui::SameLine(0, 0);
    text_coloured(colour::dim, std::string_view(shown).substr(cut));
  }
  if (tooltip_due()) tooltip(ctx.look, row_tooltip(ctx.model, ctx.state.timings[row.stats]));
}

struct TableShape {
  int max_rank = 6;
  float number = 0, mark = 0, spark = 0;
};

void draw_row(PanelContext& ctx, const char* id, const TimingRow& row, bool same_node,
              const TableShape& shape) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  name_cell(ctx, row, same_node);
  ctx.mark(id, row.node, row.pass);
  ImGui::TableNextColumn();
  text_right(colour::faint, row.gpu ? "GPU" : "CPU");
  ImGui::TableNextColumn();
  const auto& histories = ctx.state.timing_histories;
  if (row.stats < histories.size())
    sparkline(ctx, histories[row.stats], shape.spark);
  else
    ImGui::Dummy({shape.spark, 1});
  for (size_t i = 0; i < kTimingColumns; ++i) {
    if (kTimingColumnList[i].rank > shape.max_rank) continue;
    ImGui::TableNextColumn();
    const TimingCell& cell = row.cells[i];
    if (cell.number < 0)
      text_right(colour::faint, "n/a");
    else
      text_right(i == kMedianColumn ? colour::text : colour::dim, cell.text);
  }
}

/// Returns the shown rows in the chosen order. `scopes`: include the rows of scopes and comparisons.
std::vector<const TimingRow*> shown_rows(const PanelContext& ctx, bool scopes) {
  std::vector<const TimingRow*> rows;
  for (const TimingRow& row : ctx.state.timing_rows)
    if (scopes || row.group != TimingGroup::scope) rows.push_back(&row);
  const TimingsState& s = ctx.state.timings_view;
  if (!s.sorted) return rows;
  std::ranges::stable_sort(rows, [&](const TimingRow* a, const TimingRow* b) {
    if (s.descending) std::swap(a, b);
    if (s.sort_column == kNameColumn) return std::tie(a->node, a->pass) < std::tie(b->node, b->pass);
    const auto column = static_cast<size_t>(s.sort_column);
    return a->cells[column].number < b->cells[column].number;
  });
  return rows;
}

}  // namespace

int64_t scope_cost_ns(const UiState& state, bool comparison) {
  int64_t sum = 0;
  for (const TimingRow& row : state.timing_rows)
    if (row.group == TimingGroup::scope && row.node.ends_with(".compare") == comparison)
      if (const PassStats& stats = state.timings[row.stats]; stats.count > 0) sum += stats.p50_ns;
  return sum;
}

void draw_timings_table(PanelContext& ctx, const char* id, bool all) {
  TableShape shape;
  shape.number = ImGui::CalcTextSize("99.99").x + ctx.px(2), shape.mark = ImGui::CalcTextSize("GPU").x;
  shape.spark = ctx.px(all ? 96 : 32);
  const float cell = ctx.px(8), room = ImGui::GetContentRegionAvail().x;
  const auto width_of = [&](const TimingColumn& c) {
    return std::max(shape.number, ImGui::CalcTextSize(c.name).x);
  };
  const auto needed = [&] {
    float width = shape.mark + shape.spark + 2 * cell;
    for (const TimingColumn& c : kTimingColumnList)
      if (c.rank <= shape.max_rank) width += width_of(c) + cell;
    return width;
  };
  while (!all && shape.max_rank > 0 && room - needed() < ctx.px(76)) --shape.max_rank;
  int columns = 3;
  for (const TimingColumn& c : kTimingColumnList) columns += c.rank <= shape.max_rank;
  const VarScope cell_padding(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
  if (ImGui::BeginTable(id, columns, ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableSetupColumn("pass", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("on", ImGuiTableColumnFlags_WidthFixed, shape.mark);
    ImGui::TableSetupColumn("newest", ImGuiTableColumnFlags_WidthFixed, shape.spark);
    for (const TimingColumn& c : kTimingColumnList)
      if (c.rank <= shape.max_rank)
        ImGui::TableSetupColumn(c.name, ImGuiTableColumnFlags_WidthFixed, width_of(c));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    sort_header(ctx, id, kNameColumn, "ms", "Passes by name; times in milliseconds", false);
    ImGui::TableNextColumn();
    ImGui::TableNextColumn();
    for (size_t i = 0; i < kTimingColumns; ++i) {
      if (kTimingColumnList[i].rank > shape.max_rank) continue;
      ImGui::TableNextColumn();
      sort_header(ctx, id, static_cast<int>(i), kTimingColumnList[i].name, kTimingColumnList[i].doc, true);
    }
    const TimingRow* previous = nullptr;
    const bool grouped = !ctx.state.timings_view.sorted;
    for (const TimingRow* row : shown_rows(ctx, all)) {
      if (grouped && previous && previous->group != row->group) ImGui::TableNextRow(0, ctx.px(6));
      draw_row(ctx, id, *row, grouped && previous && previous->node == row->node, shape);
      previous = row;
    }
    ImGui::EndTable();
  }
}

}  // namespace lensd::ui
