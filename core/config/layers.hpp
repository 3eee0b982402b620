// The whole configuration out of all the places where it is given.
//
//   files in order ─▶ LENSD_TABLE_KEY, LENSD_GRAPH ─▶ --graph ─▶ LENSD_SET ─▶ --set ─▶ Layered
//
// Later places win. Everything wrong in any of them is reported at once and nothing is given out then, so
// that a reload is all or nothing. May be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.hpp"

namespace lensd {

/// Name and value of variables that begin with LENSD_.
using Environment = std::vector<std::pair<std::string, std::string>>;

Environment process_environment();

/// Where a configuration comes from; kept by those who reload it.
struct Layers {
  std::vector<std::string> files;
  Environment environment;
  std::optional<std::string> graph_spec;  ///< --graph
  std::vector<std::string> sets;          ///< --set
};

struct Layered {
  Config config;
  GraphDesc graph;  ///< resolved
};

/// Throws Error(invalid_config) with all problems joined by newlines.
Layered load_layers(const Layers& layers, const Registry& registry);

}  // namespace lensd
