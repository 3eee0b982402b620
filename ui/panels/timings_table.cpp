#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/clock.hpp"
#include "ui/timings.hpp"

namespace lensd::ui {
namespace {

/// What a row has in a column: the number to sort by and the text. Negative: n/a.
struct Cell {
  double number = -1;
  std::string text;
};

Cell time_cell(const PassStats& row, int64_t ns) {
  if (row.count == 0) return {};
  return {static_cast<double>(ns), ms_text(ns)};
}

Cell share_cell(double share) {
  if (share < 0) return {};
  const double percent = share * 100;
  return {share, percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent)};
}

struct Column {
  const char* name;
  const char* doc;
  int rank;  ///< columns of higher rank go first where there is little room
  Cell (*cell)(const ViewerModel& model, const PassStats& row);
};

constexpr std::array<Column, 8> kColumns{{
    {"last", "The newest measured frame, ms", 4,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.last_ns); }},
    {"p50", "Half of the last frames take less, ms", 0,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p50_ns); }},
    {"p95", "95 of 100 frames take less, ms", 3,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p95_ns); }},
    {"p99", "99 of 100 frames take less, ms", 0,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p99_ns); }},
    {"max", "The slowest of the last frames, ms", 5,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.max_ns); }},
    {"GB/s", "What the pass reads and writes, by its own account, at p50", 6,
     [](const ViewerModel&, const PassStats& r) {
       const double rate = transfer_rate(r);
       return rate < 0 ? Cell{} : Cell{rate, fmt::format("{:.1f}", rate * 1e-9)};
     }},
    {"copy %",
     "Bytes that the pass reads and writes a second, of this machine's measured memory copy rate. By bytes "
     "alone: a pass that computes much has a low share without being slow, and one that finds its bytes in "
     "the cache has more than 100 %",
     2, [](const ViewerModel& m, const PassStats& r) { return share_cell(roofline_share(m, r)); }},
    {"frame %", "p50 as a share of the time that one frame of the source lasts", 1,
     [](const ViewerModel& m, const PassStats& r) { return share_cell(budget_share(m, r)); }},
}};

constexpr int kNameColumn = -1;

/// Text of a header that sorts: first by the largest, then by the smallest, then in the graph's order again.
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

/// The newest durations as a line of bars from zero to the highest of them.
void sparkline(PanelContext& ctx, const std::vector<int64_t>& values, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetTextLineHeight();
  ImGui::Dummy({width, height});
  if (values.empty()) return;
  const float step = ctx.px(2);
  const size_t count = std::min(values.size(), static_cast<size_t>(width / step));
  const auto begin = values.end() - static_cast<std::ptrdiff_t>(count);
  const auto top = static_cast<double>(std::max<int64_t>(1, *std::max_element(begin, values.end())));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = at.x + width - static_cast<float>(count) * step;
  for (auto v = begin; v != values.end(); ++v, x += step) {
    const float h = std::max(1.f, (height - ctx.px(3)) * static_cast<float>(static_cast<double>(*v) / top));
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

void name_cell(PanelContext& ctx, const PassStats& row, bool same_node) {
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
    const size_t cut =
        row.node.size() < shown.size() && shown.starts_with(row.node) ? row.node.size() : shown.size();
    text_coloured(colour::text, std::string_view(shown).substr(0, cut));
    ImGui::SameLine(0, 0);
    text_coloured(colour::dim, std::string_view(shown).substr(cut));
  }
  if (tooltip_due()) tooltip(ctx.look, row_tooltip(ctx.model, row));
}

struct TableShape {
  int max_rank = 6;
  float number = 0, mark = 0, spark = 0;
};

void draw_row(PanelContext& ctx, const char* id, const PassStats& row, bool same_node,
              const TableShape& shape) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  name_cell(ctx, row, same_node);
  ctx.mark(id, row.node, row.pass);
  ImGui::TableNextColumn();
  text_right(colour::faint, row.gpu ? "GPU" : "CPU");
  ImGui::TableNextColumn();
  const auto index = static_cast<size_t>(&row - ctx.state.timings.data());
  const auto& histories = ctx.state.timing_histories;
  if (index < histories.size())
    sparkline(ctx, histories[index], shape.spark);
  else
    ImGui::Dummy({shape.spark, 1});
  for (const Column& column : kColumns) {
    if (column.rank > shape.max_rank) continue;
    ImGui::TableNextColumn();
    const Cell cell = column.cell(ctx.model, row);
    const bool main = std::string_view(column.name) == "p50";
    if (cell.number < 0)
      text_right(colour::faint, "n/a");
    else
      text_right(main ? colour::text : colour::dim, cell.text);
  }
}

/// Where the row's node stands: the graph's nodes first, each with the conversions of its picture behind it,
/// then what scopes and comparisons measure, then what is around the graph.
size_t place_of(const ViewerModel& model, const PassStats& row) {
  const auto& nodes = model.nodes;
  const size_t behind = 2 * nodes.size() + 2;
  const auto own =
      std::find_if(nodes.begin(), nodes.end(), [&](const NodeView& n) { return n.id == row.node; });
  if (own == nodes.end()) return behind + 1;
  if (own->scope) return behind;
  if (!own->automatic) return 2 * static_cast<size_t>(own - nodes.begin()) + 2;
  // "edges.gray" converts what "edges" gives; "source.gray" comes before all nodes.
  const std::string_view of = std::string_view(row.node).substr(0, row.node.rfind('.'));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].automatic && nodes[i].id == of) return 2 * i + 3;
  return 0;
}

/// The rows that are shown, in the order that was chosen. `scopes`: with what is measured for the panels.
std::vector<const PassStats*> shown_rows(const PanelContext& ctx, bool scopes) {
  // With their places, which are searched for once a row and not at every comparison.
  std::vector<std::pair<size_t, const PassStats*>> placed;
  for (const PassStats& row : ctx.state.timings)
    if (row.active && row.node != kLatencyRow && (scopes || !is_of_scope(ctx.model, row)))
      placed.emplace_back(place_of(ctx.model, row), &row);
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const PassStats*> rows;
  for (const auto& [place, row] : placed) rows.push_back(row);
  const TimingsState& s = ctx.state.timings_view;
  if (!s.sorted) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](const PassStats* a, const PassStats* b) {
    if (s.descending) std::swap(a, b);
    if (s.sort_column == kNameColumn) return std::tie(a->node, a->pass) < std::tie(b->node, b->pass);
    const Column& column = kColumns[static_cast<size_t>(s.sort_column)];
    return column.cell(ctx.model, *a).number < column.cell(ctx.model, *b).number;
  });
  return rows;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

bool is_of_graph(const ViewerModel& model, const PassStats& row) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const NodeView& n) { return n.id == row.node; });
}

bool is_of_scope(const ViewerModel& model, const PassStats& row) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const NodeView& n) { return n.scope && n.id == row.node; });
}

int64_t scope_cost_ns(const PanelContext& ctx, bool comparison) {
  int64_t sum = 0;
  for (const PassStats& row : ctx.state.timings)
    if (row.active && row.count > 0 && is_of_scope(ctx.model, row) &&
        row.node.ends_with(".compare") == comparison)
      sum += row.p50_ns;
  return sum;
}

double budget_share(const ViewerModel& model, const PassStats& row) {
  if (row.count == 0 || model.frame_duration_ns <= 0) return -1;
  return static_cast<double>(row.p50_ns) / static_cast<double>(model.frame_duration_ns);
}

double transfer_rate(const PassStats& row) {
  return row.count > 0 && row.bytes > 0 && row.p50_ns > 0 ? row.bytes / to_s(row.p50_ns) : -1;
}

double roofline_share(const ViewerModel& model, const PassStats& row) {
  const double roof = row.gpu ? model.gpu_copy_rate : model.cpu_copy_rate, rate = transfer_rate(row);
  // Decoding, uploading and presenting are bound by other things than the memory that passes work in.
  return roof > 0 && rate >= 0 && is_of_graph(model, row) ? rate / roof : -1;
}

void draw_timings_table(PanelContext& ctx, const char* id, bool all) {
  TableShape shape;
  shape.number = ImGui::CalcTextSize("99.99").x + ctx.px(2), shape.mark = ImGui::CalcTextSize("GPU").x;
  shape.spark = ctx.px(all ? 96 : 32);
  const float cell = ctx.px(8), room = ImGui::GetContentRegionAvail().x;
  const auto width_of = [&](const Column& c) {
    return std::max(shape.number, ImGui::CalcTextSize(c.name).x);
  };
  const auto needed = [&] {
    float width = shape.mark + shape.spark + 2 * cell;
    for (const Column& c : kColumns)
      if (c.rank <= shape.max_rank) width += width_of(c) + cell;
    return width;
  };
  while (!all && shape.max_rank > 0 && room - needed() < ctx.px(76)) --shape.max_rank;
  int columns = 3;
  for (const Column& c : kColumns) columns += c.rank <= shape.max_rank;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
  if (ImGui::BeginTable(id, columns, ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableSetupColumn("pass", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("on", ImGuiTableColumnFlags_WidthFixed, shape.mark);
    ImGui::TableSetupColumn("newest", ImGuiTableColumnFlags_WidthFixed, shape.spark);
    for (const Column& c : kColumns)
      if (c.rank <= shape.max_rank)
        ImGui::TableSetupColumn(c.name, ImGuiTableColumnFlags_WidthFixed, width_of(c));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    sort_header(ctx, id, kNameColumn, "ms", "Passes by name; times in milliseconds", false);
    ImGui::TableNextColumn();
    ImGui::TableNextColumn();
    for (size_t i = 0; i < kColumns.size(); ++i) {
      if (kColumns[i].rank > shape.max_rank) continue;
      ImGui::TableNextColumn();
      sort_header(ctx, id, static_cast<int>(i), kColumns[i].name, kColumns[i].doc, true);
    }
    const PassStats* previous = nullptr;
    for (const PassStats* row : shown_rows(ctx, all)) {
      const bool grouped = !ctx.state.timings_view.sorted;
      const auto group = [&](const PassStats& r) {
        return is_of_scope(ctx.model, r) ? 1 : is_of_graph(ctx.model, r) ? 0 : 2;
      };
      if (grouped && previous && group(*previous) != group(*row)) ImGui::TableNextRow(0, ctx.px(6));
      draw_row(ctx, id, *row, grouped && previous && previous->node == row->node, shape);
      previous = row;
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

std::string timings_csv(const ViewerModel& model, const std::vector<PassStats>& rows) {
  std::string csv =
      "node,pass,on,frames,last_ms,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,bytes,gb_per_s,copy_rate_percent,"
      "frame_percent\n";
  auto out = std::back_inserter(csv);
  const auto number = [&](double value, double factor, const char* end) {
    value < 0 ? fmt::format_to(out, "n/a{}", end) : fmt::format_to(out, "{:.3f}{}", value * factor, end);
  };
  for (const PassStats& r : rows) {
    if (!r.active) continue;
    fmt::format_to(out, "{},{},{},{},", csv_text(r.node), csv_text(r.pass), r.gpu ? "gpu" : "cpu", r.count);
    for (const int64_t ns : {r.last_ns, r.mean_ns, r.p50_ns, r.p95_ns, r.p99_ns, r.max_ns})
      r.count == 0 ? fmt::format_to(out, "n/a,") : fmt::format_to(out, "{:.6f},", to_ms(ns));
    fmt::format_to(out, "{:.0f},", r.bytes);
    number(transfer_rate(r), 1e-9, ",");
    number(roofline_share(model, r), 100, ",");
    number(budget_share(model, r), 100, "\n");
  }
  return csv;
}

}  // namespace lensd::ui
