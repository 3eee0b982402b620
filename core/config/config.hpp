// Configuration files: TOML in, checked values out.
//
//   file ── load_config() ──▶ Config ── merge() ──▶ Config ── --set, options ──▶ the run
//
// Everything wrong in a file is reported at once, each with file:line:column; nothing is half applied.
// Plain values; copy freely between threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/graph/graph.hpp"

namespace lensd {

/// What files can say. An empty optional was not said.
struct Config {
  std::optional<std::string> source_url, hwdec;    // [source]
  std::optional<GraphDesc> graph;                  // [graph] and [[node]]
  std::optional<int> window_width, window_height;  // [window]
  std::optional<bool> fullscreen, vsync;
  std::optional<std::string> backend;  // [performance]
  std::optional<int> threads, device;
  std::optional<std::string> log_level, log_file;  // [log]
};

/// Largest file that is read, in bytes.
inline constexpr size_t kMaxConfigBytes = 1 << 20;

/// All that is wrong with a TOML text, a line each, "name:line:column: sentence"; fills `out` when nothing
/// is.
std::vector<std::string> parse_config(const std::string& text, const std::string& name,
                                      const Registry& registry, Config& out);

/// Reads and checks a file. Throws Error(invalid_config) with all problems joined by newlines.
Config load_config(const std::string& path, const Registry& registry);

/// Values of `later` win; a graph replaces a graph whole.
void merge(Config& base, const Config& later);

}  // namespace lensd
