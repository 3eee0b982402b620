// lensd filters, lensd bench, lensd check, and the timings table: what the program knows, as text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands/bench/bench.hpp"
#include "app/run.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "core/graph/catalogue.hpp"
#include "kernels/registry.hpp"

namespace lensd {

void run_filters(const CommandLine& line) {
  std::vector<const FilterEntry*> entries;
  for (const FilterEntry& entry : registry().filters)
    if (line.filter_name.empty() || entry.schema().name == line.filter_name) entries.push_back(&entry);
  if (entries.empty())
    throw Error(ExitCode::invalid_config, "filters", "there is no filter '" + line.filter_name + "'",
                "see lensd filters");
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
  options.cpu = line.backend != BackendRequest::cuda, options.cuda = line.backend != BackendRequest::cpu;
  if (!options.cpu) choose_backend(line.backend, probe_cuda(line.device));  // throws where there is none
  if (line.threads > 0) options.threads = {line.threads};
  for (const std::string& size : line.bench_sizes) options.sizes.push_back(bench::parse_size(size));
  options.device = line.device, options.json = line.json;
  bench::run(options);
}

void run_check(const CommandLine& line) {
  if (line.schema) return fmt::print("{}", config_schema(registry()));
  if (line.configs.empty())
    throw Error(ExitCode::usage, "check", "names no file", "lensd check FILE…, or --schema");
  int bad = 0;
  for (const std::string& path : line.configs) {
    try {
      load_config(path, registry());
      fmt::print("{}: ok\n", path);
    } catch (const Error& e) {
      fmt::print(stderr, "{}\n", e.what());
      ++bad;
    }
  }
  if (bad > 0)
    throw Error(ExitCode::invalid_config, "check",
                fmt::format("{} of {} files refused", bad, line.configs.size()));
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

void write_timings(const std::string& path, const std::vector<PassStats>& rows) {
  if (path.ends_with(".json")) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const PassStats& r : rows) {
      nlohmann::ordered_json row{{"node", r.node},
                                 {"pass", r.pass},
                                 {"on", r.gpu ? "gpu" : "cpu"},
                                 {"count", r.count},
                                 {"bytes", r.bytes}};
      if (r.count > 0)
        row.update({{"last_ms", to_ms(r.last_ns)},
                    {"mean_ms", to_ms(r.mean_ns)},
                    {"p50_ms", to_ms(r.p50_ns)},
                    {"p95_ms", to_ms(r.p95_ns)},
                    {"p99_ms", to_ms(r.p99_ns)},
                    {"max_ms", to_ms(r.max_ns)}});
      all.push_back(std::move(row));
    }
    return write_text(path, all.dump(2) + "\n");
  }
  std::string csv = "node,pass,on,count,bytes,last_ms,mean_ms,p50_ms,p95_ms,p99_ms,max_ms\n";
  for (const PassStats& r : rows) {
    csv += fmt::format("{},{},{},{},{:.0f}", r.node, r.pass, r.gpu ? "gpu" : "cpu", r.count, r.bytes);
    csv += r.count == 0 ? ",,,,,,\n"
                        : fmt::format(",{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", to_ms(r.last_ns),
                                      to_ms(r.mean_ns), to_ms(r.p50_ns), to_ms(r.p95_ns), to_ms(r.p99_ns),
                                      to_ms(r.max_ns));
  }
  write_text(path, csv);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ExitCode::runtime_failure, path, "cannot be written", "check the folder and its permissions");
}

}  // namespace lensd
