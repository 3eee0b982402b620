// The timings panels: the table, the latency, and sums of rows.
//
//   ViewerModel::timings ──▶ timing_rows() ──▶ UiState::timing_rows ──▶ draw_timings_table()
//
// Values that were not measured are shown as "n/a", never as 0.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

/// Returns the time of the open scope, or of the comparison if `comparison` is true: the sum of the passes'
/// medians in nanoseconds. Returns 0 if it was not measured.
int64_t scope_cost_ns(const UiState& state, bool comparison);

/// Draws the table. Omits the least important columns if the width is too small. `all`: show all columns, and
/// also the rows of scopes and comparisons, which the side panel omits to keep its layout.
void draw_timings_table(PanelContext& ctx, const char* id, bool all);

/// A stage of the latency from decoder to screen.
struct LatencyStage {
  const char *name, *label, *doc;
  bool strong = false;
};
/// Returns the stages in the order of the data flow, the sums last.
std::span<const LatencyStage> latency_stages();
/// Draws p50, p95 and p99 of the stages.
void draw_latency_table(PanelContext& ctx);
/// Returns the row of a stage ("work", "total"), or null if it was not measured.
const PassStats* latency_of(const std::vector<PassStats>& rows, std::string_view stage);

}  // namespace lensd::ui
