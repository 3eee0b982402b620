#include "ui/model/timing_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/clock.hpp"
#include "core/base/text/text.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

TimingCell time_cell(const PassStats& row, int64_t ns) {
  if (row.count == 0) return {};
  return {static_cast<double>(ns), ms_text(ns)};
}

TimingCell share_cell(double share) {
  if (share < 0) return {};
  const double percent = share * 100;
  return {share, percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent)};
}

/// Returns the sort key of a row, for the order that timing_rows() documents.
size_t place_of(const ViewerModel& model, const PassStats& row) {
  const auto& nodes = model.nodes;
  const size_t behind = 2 * nodes.size() + 2;
  const NodeView* own = model.find(row.node);
  if (!own) return behind + 1;
  if (own->scope) return behind;
  if (!own->automatic) return 2 * static_cast<size_t>(own - nodes.data()) + 2;
  // "edges.gray" converts the output of "edges"; "source.gray" comes before all nodes.
  const std::string_view of = std::string_view(row.node).substr(0, row.node.rfind('.'));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].automatic && nodes[i].id == of) return 2 * i + 3;
  return 0;
}

}  // namespace

const std::array<TimingColumn, kTimingColumns> kTimingColumnList{{
    {"last", "The newest measured frame, ms", 4,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.last_ns); }},
    {"p50", "Median of the last frames, ms", 0,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p50_ns); }},
    {"p95", "95 % of the last frames take less, ms", 3,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p95_ns); }},
    {"p99", "99 % of the last frames take less, ms", 0,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.p99_ns); }},
    {"max", "The slowest of the last frames, ms", 5,
     [](const ViewerModel&, const PassStats& r) { return time_cell(r, r.max_ns); }},
    {"GB/s", "Bytes that the pass declares to read and write, at p50", 6,
     [](const ViewerModel&, const PassStats& r) {
       const double rate = transfer_rate(r);
       return rate < 0 ? TimingCell{} : TimingCell{rate, fmt::format("{:.1f}", rate * 1e-9)};
     }},
    {"copy %",
     "Bytes that the pass reads and writes a second, relative to this machine's measured memory copy rate. "
     "Counts bytes only: a pass that computes much has a low share without being slow, and a pass whose "
     "bytes are in the cache can exceed 100 %",
     2, [](const ViewerModel& m, const PassStats& r) { return share_cell(roofline_share(m, r)); }},
    {"frame %", "p50 relative to the frame duration of the source", 1,
     [](const ViewerModel& m, const PassStats& r) { return share_cell(budget_share(m, r)); }},
}};

std::vector<TimingRow> timing_rows(const ViewerModel& model) {
  std::vector<std::pair<size_t, TimingRow>> placed;
  for (size_t i = 0; i < model.timings.size(); ++i) {
    const PassStats& stats = model.timings[i];
    if (!stats.active || stats.node == kLatencyRow) continue;
    TimingRow& row = placed.emplace_back(place_of(model, stats), TimingRow{}).second;
    row.stats = i, row.node = stats.node, row.pass = stats.pass, row.gpu = stats.gpu;
    row.group = is_of_scope(model, stats)   ? TimingGroup::scope
                : is_of_graph(model, stats) ? TimingGroup::graph
                                            : TimingGroup::around;
    // The name of a scope's node ends with the name of its pass.
    row.single = stats.node == stats.pass || stats.node.ends_with("." + stats.pass);
    for (size_t c = 0; c < kTimingColumns; ++c) row.cells[c] = kTimingColumnList[c].cell(model, stats);
  }
  std::ranges::stable_sort(placed, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TimingRow> rows;
  rows.reserve(placed.size());
  for (auto& [place, row] : placed) rows.push_back(std::move(row));
  return rows;
}

bool is_of_graph(const ViewerModel& model, const PassStats& row) {
  return model.find(row.node) != nullptr;
}

bool is_of_scope(const ViewerModel& model, const PassStats& row) {
  const NodeView* node = model.find(row.node);
  return node && node->scope;
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
  // The copy rate is no limit for decoding, uploading and presenting.
  return roof > 0 && rate >= 0 && is_of_graph(model, row) ? rate / roof : -1;
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
    fmt::format_to(out, "{},{},{},{},", csv_field(r.node), csv_field(r.pass), r.gpu ? "gpu" : "cpu", r.count);
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
