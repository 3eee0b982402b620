// What a run reports at its end: the table of timings, and the files of --timings and --trace.
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"
#include "app/pipeline/pipeline.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {

/// Returns the timings table as text.
std::string timings_text(const std::vector<PassStats>& rows);

/// Throws Error(usage) unless the extension is .csv or .json, or `path` is a pipe or device, which gets CSV.
/// Call before the run.
void check_timings_path(const std::string& path);

/// Throws Error(usage) unless the extension is .json, or `path` is a pipe or device. Call before the run.
void check_trace_path(const std::string& path);

/// Writes the file of --timings, as JSON if its name ends in .json, else as CSV, and the file of --trace.
/// Marks the daemon's files with mark_result(). Throws as write_whole_file() does.
void write_reports(const CommandLine& line, Pipeline& pipeline, PipeReader reader);

}  // namespace lensd
