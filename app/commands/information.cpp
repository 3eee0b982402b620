// lensd filters, lensd bench, lensd check, and the output of timings as text and files.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/commands/bench/bench.hpp"
#include "app/run.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/config/schema.hpp"
#include "core/graph/catalogue.hpp"
#include "kernels/registry.hpp"

namespace lensd {

void run_filters(const CommandLine& line) {
  std::vector<const FilterEntry*> entries;
  for (const FilterEntry& entry : registry().filters)
    if (line.filter_name.empty() || entry.schema().name == line.filter_name) entries.push_back(&entry);
  if (entries.empty())
    throw Error(ExitCode::invalid_config, "filters", unknown_filter(line.filter_name, registry()));
  if (line.json)
    fmt::print("{}", filters_json(entries));
  else if (line.markdown)
    fmt::print("{}", filters_markdown(entries));
  else if (!line.filter_name.empty())
    fmt::print("{}", filter_text(*entries.front()));
  else
    fmt::print("{}", filters_list(entries));
}

void run_bench(const CommandLine& line) {
  bench::Options options;
  options.filters = line.bench_filters;
  options.cpu = line.config.backend != BackendRequest::cuda,
  options.cuda = line.config.backend != BackendRequest::cpu;
  if (!options.cpu)
    choose_backend(line.config.backend, probe_cuda(line.config.device));  // throws if CUDA is not available
  if (line.config.threads > 0) options.threads = {line.config.threads};
  for (const std::string& size : line.bench_sizes) options.sizes.push_back(bench::parse_size(size));
  options.device = line.config.device, options.json = line.json;
  bench::run(options);
}

void run_check(const CommandLine& line) {
  if (line.schema) return fmt::print("{}", config_schema(registry()));
  if (line.layers.files.empty())
    throw Error(ExitCode::usage, "check", "no file given", "lensd check FILE…, or --schema");
  int bad = 0;
  for (const std::string& path : line.layers.files) {
    try {
      load_config(path, registry());
      fmt::print("{}: ok\n", printable(path));
    } catch (const Error& e) {
      fmt::print(stderr, "{}\n", printable(e.what(), Lines::keep));
      ++bad;
    }
  }
  if (bad > 0)
    throw Error(ExitCode::invalid_config, "check",
                fmt::format("{} of {} files refused", bad, line.layers.files.size()));
}

std::string timings_text(const std::vector<PassStats>& rows) {
  std::string text = fmt::format("{:<18} {:<12} {:>9} {:>9} {:>9} {:>9} {:>9}  ms\n", "node", "pass", "last",
                                 "p50", "p95", "p99", "max");
  for (const PassStats& row : rows) {
    if (!row.active) continue;
    if (row.count == 0) {
      text += fmt::format("{:<18} {:<12} {:>9}\n", row.node, row.pass, "n/a");
      continue;
    }
    text += fmt::format("{:<18} {:<12} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}  {}\n", row.node,
                        row.pass, to_ms(row.last_ns), to_ms(row.p50_ns), to_ms(row.p95_ns), to_ms(row.p99_ns),
                        to_ms(row.max_ns), row.gpu ? "gpu" : "cpu");
  }
  return text;
}

void write_timings(const std::string& path, const std::vector<PassStats>& rows, PipeReader reader,
                   Existing existing) {
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
    csv += fmt::format("\n{},{},{},{},{:.0f}", r.node, r.pass, on, r.count, r.bytes);
    for (const auto& [name, time] : kTimes) {
      if (r.count > 0) row[name] = to_ms(r.*time);
      csv += r.count > 0 ? fmt::format(",{:.6f}", to_ms(r.*time)) : ",";
    }
    all.push_back(std::move(row));
  }
  write_whole_file(path, path.ends_with(".json") ? all.dump(2) + "\n" : csv + "\n", Flush::none,
                   MissingFolders::refuse, reader, existing);
}

}  // namespace lensd
