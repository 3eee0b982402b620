// The Trace Event Format (JSON), as Perfetto and chrome://tracing load it.
//
//   Timeline::intervals(), samples() ──▶ chrome_trace() ──▶ a file for ui.perfetto.dev
//
// Intervals are complete events ("X"), one track a thread or CUDA stream, properly nested in it; flow arrows
// ("s", "t", "f") lead from interval to interval of one frame; samples are counters ("C"). Times are
// microseconds from the oldest event. Plain functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/trace/timeline.hpp"

namespace lensd {

/// `intervals` and `samples` sorted as Timeline gives them. `notes` go into the trace's "otherData".
std::string chrome_trace(const std::vector<Timeline::Interval>& intervals,
                         const std::vector<Timeline::Sample>& samples,
                         const std::vector<std::pair<std::string, std::string>>& notes = {});

}  // namespace lensd
