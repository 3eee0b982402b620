// Parses the command line, starts the run mode and maps errors to exit codes.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "app/config_checks.hpp"
#include "app/ending.hpp"
#include "app/output_files.hpp"
#include "app/run.hpp"
#include "app/viewer/sources/playlist.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/owned_thread.hpp"
#include "core/base/text/printable.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"

namespace {

constexpr int kSignals = 128;  // as in a shell's exit codes

/// Opens /dev/null as each standard descriptor that the parent has closed. Otherwise the next file or socket
/// would get its number: messages would be written into it, and `-` would read it. Output descriptors are
/// opened for reading and standard input for writing, so that their use still fails.
void reserve_standard_descriptors() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int ignored = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/// Throws Error(usage) if an output would replace a source, including later sources of the playlist. Also
/// throws if it would replace another file; see check_existing_files().
void check_outputs(const lensd::CommandLine& line) {
  using namespace lensd;
  std::vector<std::string> sources = line.more_sources;
  sources.insert(sources.begin(), line.config.source_url);
  check_output_files(line, line.mode == RunMode::viewer ? expand_sources(sources) : sources);
  check_existing_files(line);
}

/// Throws Error(usage) for --start with a live source, which has no positions. HTTP addresses are allowed,
/// because they may be files.
void check_start(const lensd::CommandLine& line) {
  using namespace lensd;
  if (!line.start || (line.start->seconds <= 0 && line.start->share <= 0)) return;
  const std::string& url = line.config.source_url;
  const std::string scheme = scheme_of(url);
  if (is_live(classify(url)) && scheme != "http" && scheme != "https")
    throw Error(ExitCode::usage, "--start", "a live source has no start position", "leave it out");
}

void run(int argc, char** argv) {
  using namespace lensd;
  // Do not parse the following words: they are an unfinished command line.
  if (argc > 1 && std::strcmp(argv[1], "__complete") == 0) return run_complete({argv + 2, argv + argc});
  set_config_check(config_problems);
  CommandLine line = parse_command_line(argc, argv);
  if (line.mode == RunMode::check) return run_check(line);
  if (line.mode == RunMode::filters) return run_filters(line);
  if (line.mode == RunMode::ctl) return run_ctl(line);
  if (line.mode == RunMode::bench) return run_bench(line);
  if (line.mode == RunMode::manual) return run_manual();
  if (line.mode == RunMode::completion) return run_completion(line);
  set_recorded_file(line.record);
  const GraphDesc graph = configure(line, registry());
  if (line.mode != RunMode::doctor) check_start(line), check_outputs(line);
  log::init(line.config.log_level, line.config.log_file);
  if (line.mode == RunMode::doctor) return run_doctor(line);
  if (line.mode == RunMode::serve) return run_serve(line, graph);
  if (line.mode == RunMode::batch) return run_batch(line, graph);
  run_viewer(line, graph);
}

void run_or_print(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const lensd::EarlyExit& e) {
    fmt::print("{}", e.text);
  }
}

/// Runs the program and flushes standard output. Throws as finish_stdout() does if output is lost.
void run_and_finish(int argc, char** argv) {
  int error = 0;
  try {
    run_or_print(argc, argv);
  } catch (const std::system_error& e) {  // thrown by fmt::print(), for example
    if (!std::ferror(stdout)) throw;
    error = e.code().value();
  }
  lensd::finish_stdout(error);
}

/// Returns the message for an exception that is no lensd::Error.
std::string message_of(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e))
    return "out of memory (close other programs, or raise `ulimit -v`)";
  const auto* const system = dynamic_cast<const std::system_error*>(&e);
  if (system && system->code() == std::errc::resource_unavailable_try_again)
    return "cannot start a thread (close other programs, or raise `ulimit -u` and `ulimit -v`)";
  return fmt::format("unexpected failure: {}", e.what());
}

/// Returns the exit code, or kSignals + N if signal N must end the program.
int run_and_report(int argc, char** argv) {
  try {
    run_and_finish(argc, argv);
    return static_cast<int>(lensd::ExitCode::done);
  } catch (const lensd::EndBySignal& e) {
    if (!e.message.empty()) lensd::log::print(fmt::format("lensd: {}\n", e.message));
    return kSignals + e.signal;
  } catch (const lensd::Error& e) {
    // The place may be a file name with a line break: the rest of the name would look like another message.
    const std::string text = e.what(), place = lensd::printable(e.where());
    lensd::log::print(fmt::format("lensd: {}{}\n", place, text.substr(e.where().size())));
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    lensd::log::print(fmt::format("lensd: {}\n", message_of(e)));
    return static_cast<int>(lensd::ExitCode::runtime_failure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // writes to a closed pipe fail with EPIPE instead
  std::signal(SIGXFSZ, SIG_IGN);  // writes above the file size limit fail with EFBIG instead
  const int code = run_and_report(argc, argv);
  const bool joined = lensd::join_stragglers(std::chrono::milliseconds(200)) == 0;
  const bool complete = lensd::log::finish() && joined;
  std::fflush(stdout);  // do not flush the log file: a blocked thread may hold its lock
  if (code > kSignals) {
    std::signal(code - kSignals, SIG_DFL);
    std::raise(code - kSignals);
  }
  if (!complete) _exit(code);
  return code;
}
