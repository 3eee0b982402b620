// What the table of timings says, as text and as CSV.
//
//   ViewerModel::timings ──▶ timing_rows() ──▶ TimingRow ──▶ panels
//
// Rows are made when the numbers are renewed, a few times a second, and not for every display frame.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ui/model/model.hpp"

namespace lensd::ui {

/// Whether the row is of a node of the graph, rather than of what is around it (decode, upload, present).
bool is_of_graph(const ViewerModel& model, const PassStats& row);
/// Whether it is what a scope or a comparison measures for the panels: run with the graph, but no part of it.
bool is_of_scope(const ViewerModel& model, const PassStats& row);

/// Share of a frame's time that the row's p50 takes, 1 for all of it; negative: not known.
double budget_share(const ViewerModel& model, const PassStats& row);
/// Bytes a second at p50, as the pass declares them; negative: not known.
double transfer_rate(const PassStats& row);
/// Of the machine's measured copy rate; negative: not known.
double roofline_share(const ViewerModel& model, const PassStats& row);

/// What a row has in a column: the number to sort by and the text. Negative: n/a.
struct TimingCell {
  double number = -1;
  std::string text;
};

/// A column of numbers; the pass's name, where it ran and its newest durations come before them.
struct TimingColumn {
  const char* name;
  const char* doc;
  int rank;  ///< columns of higher rank go first where there is little room
  TimingCell (*cell)(const ViewerModel& model, const PassStats& row);
};

constexpr size_t kTimingColumns = 8, kMedianColumn = 1;
extern const std::array<TimingColumn, kTimingColumns> kTimingColumnList;

/// What a row is of: the graph, a scope or a comparison, or what is around the graph.
enum class TimingGroup : uint8_t { graph, scope, around };

struct TimingRow {
  size_t stats = 0;  ///< where its numbers are in ViewerModel::timings
  TimingGroup group = TimingGroup::graph;
  std::string node, pass;
  bool single = false;  ///< the node has one pass, and one name says all
  bool gpu = false;
  std::array<TimingCell, kTimingColumns> cells;
};

/// One row for every pass that runs, without the latency's: the graph's nodes first, each with the
/// conversions of its picture behind it, then what scopes and comparisons measure, then the rest.
std::vector<TimingRow> timing_rows(const ViewerModel& model);

/// Every row and column, one line a pass, names quoted where needed.
std::string timings_csv(const ViewerModel& model, const std::vector<PassStats>& rows);

}  // namespace lensd::ui
