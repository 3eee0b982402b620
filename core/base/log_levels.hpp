// The names of the log levels, for options, configuration keys, commands and messages.
#pragma once

#include <string>

namespace lensd::log {

/// The level with the most messages first. spdlog also accepts other names, such as "critical".
inline constexpr const char* kLevelNames[] = {"trace", "debug", "info", "warn", "error", "off"};

/// Returns all names as text: "trace, debug, info, warn, error or off".
std::string level_list();

}  // namespace lensd::log
