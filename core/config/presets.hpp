// Presets: files with a graph, selected by name.
//
//   $XDG_CONFIG_HOME/lensd/presets/NAME.toml   the user's presets; the viewer saves and deletes them
//   FOLDER/{graphs,presets}/NAME.toml          examples, in each FOLDER of example_folders(); read-only
//
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"

namespace lensd {

struct PresetFolders {
  std::string own;                    ///< folder of the user's presets; empty: no home folder
  std::vector<std::string> examples;  ///< folders with graphs/ and presets/
};

/// Returns the folders from the environment and the installation.
PresetFolders preset_folders();

struct PresetFile {
  std::string name, path;
  bool example = false;
};

/// Returns the user's presets, then the examples; both groups are sorted by name. If several folders have an
/// example of the same name, returns only the first folder's. Skips unreadable folders.
std::vector<PresetFile> list_presets(const PresetFolders& folders);

/// Returns the entry for a path. The entry's name is the file name without its extension.
PresetFile preset_at(const PresetFolders& folders, const std::string& path);

/// Returns the path of the user's preset `name`. Throws Error(usage) if the name is not allowed or there is
/// no folder for the user's presets.
std::string own_preset_path(const PresetFolders& folders, const std::string& name);

/// Returns the path for option -c: `name` itself if it contains a slash or is an existing file, else the path
/// of the preset of that name. Throws Error(invalid_config) if there is neither.
std::string config_path(const PresetFolders& folders, const std::string& name);

/// Returns the graph of a preset. Throws Error(invalid_config) if the file cannot be read, is invalid or has
/// no graph. Does not check whether a picture fits the graph.
GraphDesc load_preset(const std::string& path, const Registry& registry);

/// Returns true if `text` is a valid configuration that contains a graph and, apart from [source.controls],
/// no other table.
bool holds_only_graph(const std::string& text, const Registry& registry);

/// Deletes the file. Throws Error(runtime_failure) if that fails or there is no such file.
void delete_preset(const std::string& path);

}  // namespace lensd
