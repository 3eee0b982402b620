// The panels of timings: the table, the latency, and sums over their rows.
//
//   ViewerModel::timings ──▶ timing_rows() ──▶ UiState::timing_rows ──▶ draw_timings_table()
//
// What was not measured is "n/a", never 0.
#pragma once

#include <string_view>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

/// Medians of the open scope, or of the comparison, together; 0: not measured.
int64_t scope_cost_ns(const UiState& state, bool comparison);

/// The table as wide as there is room: columns of less interest go first. `all`: every column, and the rows
/// of scopes and comparisons, which would make the side panel jump when one is opened.
void draw_timings_table(PanelContext& ctx, const char* id, bool all);

/// p50, p95, p99 of the stages of a frame's way; nothing while none was measured.
void draw_latency_table(PanelContext& ctx);
/// The row of a stage ("work", "total"), or null while nothing was measured.
const PassStats* latency_of(const std::vector<PassStats>& rows, std::string_view stage);

}  // namespace lensd::ui
