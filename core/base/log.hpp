// Logging with spdlog: log::warn("…").
//
//   write() ──▶ one bounded queue each for stderr and the file ──▶ writer threads
//
// A message is written before the call returns, as long as stderr and the file accept it within 50 ms. After
// a timeout, calls do not wait for that output until its queue has been empty. A full queue drops and counts
// its oldest messages. See core/base/log_queue.hpp.
//
// Thread-safe. Do not log per frame after warm-up: increment a counter instead, and log on the thread that
// reads it.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

namespace lensd::log {

enum class Level { debug, info, warn, error };

/// Formats a message, removes the secrets of URLs from it and logs it. Call debug(), info(), warn() or
/// error() instead. Defined in the .cpp file, because spdlog's headers would add two seconds to the
/// compilation of each file that logs.
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

/// Sets up logging to stderr and to `file`, unless `file` is empty. `level` (trace, debug, info, warn, error
/// or off) applies to stderr; the file gets all messages. Throws Error(usage) if the level is unknown, or if
/// `file` or one of its rotated files exists and is not a log of lensd. Throws Error(runtime_failure) if the
/// file cannot be opened. If another process logs to `file`, warns and logs to stderr only.
void init(const std::string& level, const std::string& file);

/// Changes the level of stderr. Returns false if the level is unknown.
bool set_level(const std::string& level);
/// Returns the level of stderr.
std::string level();

/// Writes `text` to stderr without a prefix, after the queued messages. Ignores the level.
void print(std::string_view text);
/// Waits until the queued messages are written, at most 200 ms, and ends the writer threads. Later messages
/// are discarded. Returns false if a thread still waits for its output: end the process with _exit().
bool finish();

/// Returns the last 500 messages at info and above, oldest first.
std::vector<std::string> recent();

}  // namespace lensd::log
