// Merges all layers of a run's configuration.
//
//   files in order ─▶ LENSD_TABLE_KEY ─▶ command line                       ─▶ Layered::config
//   files in order ─▶ LENSD_GRAPH ─▶ --graph ─▶ LENSD_SET ─▶ --set          ─▶ Layered::graph
//
// Later layers override earlier ones. If a layer has a problem, load_layers() throws and returns no
// configuration. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.hpp"

namespace lensd {

/// Name and value of each variable that starts with LENSD_.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Returns the LENSD_ variables of this process.
Environment process_environment();

/// The layers of a configuration, kept for reloads.
struct Layers {
  std::vector<std::string> files;
  Environment environment;
  Config command_line;                    ///< keys set by options of the command line
  std::optional<std::string> graph_spec;  ///< argument of --graph
  std::vector<std::string> sets;          ///< arguments of --set
  FileKind kind = FileKind::any;          ///< allowed kind of `files`; a reload reads regular files only
};

struct Layered {
  Config config;
  GraphDesc graph;         ///< resolved graph
  std::string graph_file;  ///< file that `graph` comes from; empty: no file
};

/// Reads, merges and checks all layers. Throws Error(invalid_config) with the problems, one per line. Throws
/// Error(usage) instead if the configuration is valid without Layers::command_line, but not with it. Checks
/// LENSD_SET, --set and the resulting graph only if there is no other problem.
Layered load_layers(const Layers& layers, const Registry& registry);

}  // namespace lensd
