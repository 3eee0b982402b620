// Logging: spdlog behind a handful of names, so that the rest of the code says `log::warn("…")`.
//
// Threads: every function may be called from any thread. Never called from the per-frame path after
// warm-up; a message about a frame is counted there and logged by the thread that reads the counters.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

namespace lensd::log {

enum class Level { debug, info, warn, error };

/// What the functions below come to. Formatted by the .cpp file, since spdlog's own templates take two
/// seconds to compile in every file that logs.
void write(Level level, fmt::string_view text, fmt::format_args args);

template <class... Args>
void debug(fmt::format_string<Args...> text, const Args&... args) {
  write(Level::debug, text, fmt::make_format_args(args...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, const Args&... args) {
  write(Level::info, text, fmt::make_format_args(args...));
}
template <class... Args>
void warn(fmt::format_string<Args...> text, const Args&... args) {
  write(Level::warn, text, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, const Args&... args) {
  write(Level::error, text, fmt::make_format_args(args...));
}

/// Sets up stderr logging (and `file` when not empty). `level` is trace, debug, info, warn, error or off.
/// Throws Error(usage) on an unknown level and Error(runtime_failure) when the file cannot be opened.
void init(const std::string& level, const std::string& file);

/// Changes what is written to stderr while the program runs. False for an unknown level.
bool set_level(const std::string& level);
/// The level of stderr.
std::string level();

/// The last messages at info and above, oldest first, for the log panel; at most 500 lines are kept.
std::vector<std::string> recent();

}  // namespace lensd::log
