#include "app/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/output_files.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

/// Returns the timings as JSON or CSV.
std::string timings_file(const std::vector<PassStats>& rows, bool json) {
  constexpr std::pair<const char*, int64_t PassStats::*> kTimes[] = {
      {"last_ms", &PassStats::last_ns}, {"mean_ms", &PassStats::mean_ns}, {"p50_ms", &PassStats::p50_ns},
      {"p95_ms", &PassStats::p95_ns},   {"p99_ms", &PassStats::p99_ns},   {"max_ms", &PassStats::max_ns}};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string csv = "node,pass,on,count,bytes";
  for (const auto& [name, time] : kTimes) csv += fmt::format(",{}", name);
  for (const PassStats& r : rows) {
    const char* on = r.gpu ? "gpu" : "cpu";
    nlohmann::ordered_json row{
        {"node", r.node}, {"pass", r.pass}, {"on", on}, {"count", r.count}, {"bytes", r.bytes}};
    csv += fmt::format("\n{},{},{},{},{:.0f}", r.node, csv_field(r.pass), on, r.count, r.bytes);
    for (const auto& [name, time] : kTimes) {
      if (r.count > 0) row[name] = to_ms(r.*time);
      csv += r.count > 0 ? fmt::format(",{:.6f}", to_ms(r.*time)) : ",";
    }
    all.push_back(std::move(row));
  }
  // File names may be invalid UTF-8.
  return (json ? all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) : csv) + "\n";
}

size_t code_points(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, code_points(text)), ' ');
}

/// Returns the pass, or the end of a long path, for a column of the table.
std::string shown_pass(const PassStats& row) {
  constexpr size_t kMaxWidth = 32;
  std::string text = printable(row.pass);
  for (size_t surplus = code_points(text); surplus > kMaxWidth; --surplus) {
    size_t end = 1;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    text.erase(0, end);
  }
  return text.size() < printable(row.pass).size() ? "…" + text : text;
}

}  // namespace

std::string timings_text(const std::vector<PassStats>& rows) {
  size_t nodes = 18, passes = 12;  // widths of the columns
  for (const PassStats& row : rows) {
    if (!row.active) continue;
    nodes = std::max(nodes, code_points(row.node)), passes = std::max(passes, code_points(shown_pass(row)));
  }
  std::string text = fmt::format("{:<{}} {:<{}} {:>9} {:>9} {:>9} {:>9} {:>9}  ms\n", "node", nodes, "pass",
                                 passes, "last", "p50", "p95", "p99", "max");
  for (const PassStats& row : rows) {
    if (!row.active) continue;
    const std::string names = padded(row.node, nodes) + " " + padded(shown_pass(row), passes);
    if (row.count == 0) {
      text += fmt::format("{} {:>9}\n", names, "n/a");
      continue;
    }
    text += fmt::format("{} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}  {}\n", names, to_ms(row.last_ns),
                        to_ms(row.p50_ns), to_ms(row.p95_ns), to_ms(row.p99_ns), to_ms(row.max_ns),
                        row.gpu ? "gpu" : "cpu");
  }
  return text;
}

void check_timings_path(const std::string& path) {
  if (!path.ends_with(".csv") && !path.ends_with(".json") && !is_special_file(path) && !opened_by_shell(path))
    throw Error(ExitCode::usage, "--timings", "'" + path + "' ends neither in .csv nor in .json");
}

void check_trace_path(const std::string& path) {
  if (!path.ends_with(".json") && !is_special_file(path) && !opened_by_shell(path))
    throw Error(ExitCode::usage, "--trace", "'" + path + "' does not end in .json");
}

void write_reports(const CommandLine& line, Pipeline& pipeline, PipeReader reader) {
  const auto write = [&](const std::string& path, const char* option, const std::string& text) {
    write_whole_file(path, text, Flush::none, MissingFolders::refuse, reader,
                     existing_rule(line, option, path));
    if (line.mode == RunMode::serve) mark_result(path, option);
  };
  if (!line.timings.empty())
    write(line.timings, "--timings",
          timings_file(pipeline.profiler().snapshot(), line.timings.ends_with(".json")));
  if (!line.trace.empty()) write(line.trace, "--trace", pipeline.timeline().chrome_trace());
}

}  // namespace lensd
