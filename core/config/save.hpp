// Saves a graph or a camera's controls to a file.
//
//   GraphDesc or ControlValues, old text ──▶ new text ──▶ parse back and compare
//   ──▶ temporary file, fsync, rename, fsync of the folder
//
// After a crash at any point, either the old or the new file exists, and it is complete. Saving may take tens
// of milliseconds. Thread-safe.
#pragma once

#include <string>

#include "core/config/config.hpp"

namespace lensd {

/// Returns TOML for the resolved `graph`, as an edit of the configuration `base`. Keeps comments, order and
/// other tables. If `base` cannot be edited in place, keeps the other tables without their comments. `name`
/// is the file's name in messages. Throws Error(invalid_config) if `base` is invalid. Throws
/// Error(runtime_failure) if the result would not parse to the same graph.
std::string graph_text(const GraphDesc& graph, const std::string& base, const std::string& name,
                       const Registry& registry);

/// Returns the configuration `base`, with its table [source.controls] replaced by one with `values` at the
/// end. If `values` is empty, only removes the table. Everything outside the table stays. `name` is the
/// file's name in messages. Throws Error(invalid_config) if `base` is invalid, or if its controls are not in
/// a table with the header [source.controls]. Throws Error(runtime_failure) if the result would not parse to
/// the same controls and graph.
std::string controls_text(const ControlValues& values, const std::string& base, const std::string& name,
                          const Registry& registry);
/// Replaces the controls in the file `path`. Throws Error if controls_text() does or the file cannot be read
/// or written.
void save_controls(const std::string& path, const ControlValues& values, const Registry& registry);

/// A graph with the settings that a preset stores together with it.
struct SavedGraph {
  const GraphDesc& graph;
  Precision precision;  ///< [graph] precision
};
/// Saves `saved` to `path` as an edit of the existing file. Throws Error if graph_text() does or the file
/// cannot be read or written.
void save_graph(const std::string& path, const SavedGraph& saved, const Registry& registry);
/// Writes graph_text() for `base`, with the precision, to the file `path`. Throws Error as save_graph() does,
/// and Error(runtime_failure) if the file would be read back with another precision.
void save_graph_as(const std::string& path, const SavedGraph& saved, const std::string& base,
                   const Registry& registry);

}  // namespace lensd
