// lensd filters, lensd bench and lensd check.

#include <fmt/format.h>

#include <cstdio>

#include "app/commands/bench/bench.hpp"
#include "app/config_checks.hpp"
#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/base/text/printable.hpp"
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
  set_config_check(config_and_file_problems);
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

}  // namespace lensd
