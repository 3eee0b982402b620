// Parses the command line, chooses the run mode, maps errors to exit codes.

#include <csignal>
#include <cstdio>
#include <exception>

#include "app/config_checks.hpp"
#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "kernels/registry.hpp"

namespace {

void run(int argc, char** argv) {
  using namespace lensd;
  CommandLine line = parse_command_line(argc, argv);
  set_config_check(config_problems);
  if (line.mode == RunMode::check) return run_check(line);
  if (line.mode == RunMode::filters) return run_filters(line);
  if (line.mode == RunMode::ctl) return run_ctl(line);
  if (line.mode == RunMode::bench) return run_bench(line);
  const GraphDesc graph = configure(line, registry());
  log::init(line.log_level, line.log_file);
  if (line.mode == RunMode::doctor) return run_doctor(line);
  if (line.mode == RunMode::serve) return run_serve(line, graph);
  if (line.mode == RunMode::batch) return run_batch(line, graph);
  run_viewer(line, graph);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error like any other
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that has reached its limit
  try {
    run(argc, argv);
    return static_cast<int>(lensd::ExitCode::done);
  } catch (const lensd::EarlyExit& e) {
    std::fputs(e.text.c_str(), stdout);
    return static_cast<int>(lensd::ExitCode::done);
  } catch (const lensd::Error& e) {
    std::fprintf(stderr, "lensd: %s\n", e.what());
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lensd: unexpected failure: %s\n", e.what());
    return static_cast<int>(lensd::ExitCode::runtime_failure);
  }
}
