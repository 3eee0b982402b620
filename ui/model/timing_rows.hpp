// Computes the rows of the timings table, as text and as CSV.
//
//   ViewerModel::timings ──▶ timing_rows() ──▶ TimingRow ──▶ panels
//
// Rows are computed only when the numbers change: a few times per second, not for every display frame.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ui/model/model.hpp"

namespace lensd::ui {

/// Returns true if the row belongs to a node in ViewerModel::nodes, which include conversions and scopes.
/// Returns false for decode, upload and present.
bool is_of_graph(const ViewerModel& model, const PassStats& row);
/// Returns true if the row belongs to a scope or comparison, which run with the graph but are not part of it.
bool is_of_scope(const ViewerModel& model, const PassStats& row);

/// Returns the row's p50 as a fraction of the frame duration; negative: not known.
double budget_share(const ViewerModel& model, const PassStats& row);
/// Returns the pass's declared bytes per second at p50; negative: not known.
double transfer_rate(const PassStats& row);
/// Returns transfer_rate() as a fraction of the machine's copy rate. Negative if it is not known, or if the
/// row does not belong to a node.
double roofline_share(const ViewerModel& model, const PassStats& row);

/// A cell: the number to sort by (negative: n/a) and its text.
struct TimingCell {
  double number = -1;
  std::string text;
};

/// A column of numbers. The table starts with three other columns: name, processor and newest durations.
struct TimingColumn {
  const char* name;
  const char* doc;
  int rank;  ///< columns with a higher rank are omitted first
  TimingCell (*cell)(const ViewerModel& model, const PassStats& row);
};

constexpr size_t kTimingColumns = 8, kMedianColumn = 1;
extern const std::array<TimingColumn, kTimingColumns> kTimingColumnList;

/// What a row belongs to: the graph, a scope or comparison, or the stages around the graph.
enum class TimingGroup : uint8_t { graph, scope, around };

struct TimingRow {
  size_t stats = 0;  ///< index in ViewerModel::timings
  TimingGroup group = TimingGroup::graph;
  std::string node, pass;
  bool single = false;  ///< the pass is named like its node, so the table shows one name
  bool gpu = false;
  std::array<TimingCell, kTimingColumns> cells;
};

/// Returns one row per active pass, without latency rows. The order is: conversions of the source; the
/// graph's nodes, each followed by the conversions of its output; scopes and comparisons; the other stages.
std::vector<TimingRow> timing_rows(const ViewerModel& model);

/// Returns the active rows as CSV with a header, one line per pass. Includes latency rows. Names are quoted
/// if needed; unknown numbers are "n/a".
std::string timings_csv(const ViewerModel& model, const std::vector<PassStats>& rows);

}  // namespace lensd::ui
