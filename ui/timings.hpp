// The timings as a table: columns, their order, sparklines, and the same as CSV.
//
//   ViewerModel::timings ──▶ TimingRow ──▶ draw_timings_table(), timings_csv()
//
// What was not measured is "n/a", never 0.
#pragma once

#include <string>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

/// Whether the row is of a node of the graph, rather than of what is around it (decode, upload, present).
bool is_of_graph(const ViewerModel& model, const PassStats& row);
/// Whether it is what a scope or a comparison measures for the panels: run with the graph, but no part of it.
bool is_of_scope(const ViewerModel& model, const PassStats& row);
/// Medians of the open scope, or of the comparison, together; 0: not measured.
int64_t scope_cost_ns(const PanelContext& ctx, bool comparison);

/// Share of a frame's time that the row's p50 takes, 1 for all of it; negative: not known.
double budget_share(const ViewerModel& model, const PassStats& row);
/// Bytes a second at p50, as the pass declares them; negative: not known.
double transfer_rate(const PassStats& row);
/// Of the machine's measured copy rate; negative: not known.
double roofline_share(const ViewerModel& model, const PassStats& row);

/// The table as wide as there is room: columns of less interest go first. `all`: every column, and the rows
/// of scopes and comparisons, which would make the side panel jump when one is opened.
void draw_timings_table(PanelContext& ctx, const char* id, bool all);

/// Every row and column, one line a pass, names quoted where needed.
std::string timings_csv(const ViewerModel& model, const std::vector<PassStats>& rows);

/// p50, p95, p99 of the stages of a frame's way; nothing while none was measured.
void draw_latency_table(PanelContext& ctx);
/// The row of a stage ("work", "total"), or null while nothing was measured.
const PassStats* latency_of(const std::vector<PassStats>& rows, std::string_view stage);

}  // namespace lensd::ui
