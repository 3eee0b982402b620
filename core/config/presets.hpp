// Presets: files that hold a graph, found by name.
//
//   $XDG_CONFIG_HOME/lensd/presets/NAME.toml   the user's own; saved and deleted from the viewer
//   examples/{graphs,presets}/NAME.toml        came with the program; read only
//
// Plain functions over the file system; any thread.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"

namespace lensd {

struct PresetFolders {
  std::string own;                    ///< empty: there is no home to keep them in
  std::vector<std::string> examples;  ///< folders that hold graphs/ and presets/
};

/// Those of the environment and the installation.
PresetFolders preset_folders();

struct PresetFile {
  std::string name, path;
  bool example = false;
};

/// The user's own, then the examples, each by name. Unreadable folders have none.
std::vector<PresetFile> list_presets(const PresetFolders& folders);

/// What a path is to the user: a preset's name, or the file's name without .toml.
PresetFile preset_at(const PresetFolders& folders, const std::string& path);

/// Where the user's preset of that name is or would be. Throws Error(usage) on a name that no file may have.
std::string own_preset_path(const PresetFolders& folders, const std::string& name);

/// Its graph. Throws Error(invalid_config), also for a file without a graph.
GraphDesc load_preset(const std::string& path, const Registry& registry);

/// True for a configuration with a graph and no other table.
bool holds_only_graph(const std::string& text, const Registry& registry);

/// Throws Error(runtime_failure).
void delete_preset(const std::string& path);

}  // namespace lensd
