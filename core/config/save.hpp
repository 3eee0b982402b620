// A graph into a file.
//
//   GraphDesc + the text it came from ──▶ text with the changes in place, else anew ──▶ parsed back and
//   compared ──▶ temporary file, fsync, rename, fsync of the folder
//
// Killed at any instant, the old file or the new one is there, whole. Any thread; may take tens of
// milliseconds.
#pragma once

#include <string>

#include "core/config/config.hpp"

namespace lensd {

/// TOML for `graph` (resolved). Where `base` is a configuration, its comments, order and other tables stay
/// and only what differs is edited; where it is written so that it cannot be edited, its other tables are
/// kept without their comments. Throws Error(invalid_config) when `base` is not empty and not sound, and
/// Error(runtime_failure) when the result would not read back as the same graph.
std::string graph_text(const GraphDesc& graph, const std::string& base, const std::string& name,
                       const Registry& registry);

/// Saves into `path`, editing what is there. Throws Error.
void save_graph(const std::string& path, const GraphDesc& graph, const Registry& registry);
/// Saves into `path` with the comments of `base` instead, whatever is there. Throws Error.
void save_graph_as(const std::string& path, const GraphDesc& graph, const std::string& base,
                   const Registry& registry);

}  // namespace lensd
