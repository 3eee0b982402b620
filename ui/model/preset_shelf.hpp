// The viewer's presets: loads and saves them, and tracks which preset the graph belongs to.
//
//   files ── load() ──▶ GraphEditor          (undo restores the previous graph and its preset)
//   GraphEditor ── save(), save_as() ──▶ files
//
// Members that load, save or delete presets throw Error if this fails. Call from the UI thread only. Saving
// blocks until the file is on disk, which may take tens of milliseconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/presets.hpp"
#include "ui/model/graph_editor.hpp"

namespace lensd::ui {

class PresetShelf {
 public:
  explicit PresetShelf(PresetFolders folders = {}) : folders_(std::move(folders)) {}

  /// Makes the preset at `path` the preset of the editor's graph. `graph`: the graph in that file. Call at
  /// the start if the command line names a preset.
  void started_with(const std::string& path, GraphDesc graph, GraphEditor& editor);

  /// Reads the folders. Before the first call, files() is empty.
  void refresh() { files_ = list_presets(folders_); }
  const std::vector<PresetFile>& files() const { return files_; }
  const std::string& own_folder() const { return folders_.own; }

  /// What a preset contains besides the graph.
  struct Settings {
    ControlValues controls;              ///< the camera's controls; empty: none
    std::optional<Precision> precision;  ///< nullopt: not set
  };
  /// Replaces the editor's graph with the preset at `path`. Returns the preset's other settings.
  Settings load(const std::string& path, GraphEditor& editor);
  /// Replaces the editor's graph with `graph`, which may have unsaved changes. `path`: the preset that it
  /// belongs to. If `path` is empty or the preset cannot be read, the graph has no preset.
  void resume(GraphDesc graph, const std::string& path, GraphEditor& editor);
  /// Returns the graph's preset, or null if it has none or the preset was deleted.
  const PresetFile* current(const GraphEditor& editor) const;
  /// Returns true if the graph differs from its preset. Compares a graph without a preset with the initial
  /// graph.
  bool unsaved(const GraphEditor& editor);
  /// Replaces the graph with the saved graph of its preset, or with the initial graph if it has no preset.
  void revert(GraphEditor& editor);

  /// Saves to the graph's preset. Returns false if save_as() is needed: there is no preset, or it is an
  /// example.
  bool save(GraphEditor& editor, Precision precision);
  /// Replaces the camera's controls in the graph's preset. Returns false if there is no preset, or it is an
  /// example.
  bool save_controls(const ControlValues& values, const GraphEditor& editor);
  /// Saves to preset `name` in the user's folder. Replaces an existing file.
  void save_as(const std::string& name, GraphEditor& editor, Precision precision);
  /// Returns true if save_as() would replace a preset other than the current one.
  bool replaces(const std::string& name, const GraphEditor& editor) const;
  void remove(const std::string& path);

  /// Returns the path of the last loaded or saved preset; empty: none.
  const std::string& last_used() const { return last_used_; }

 private:
  struct Known {
    PresetFile file;
    GraphDesc graph;
    bool removed = false;  ///< its file was deleted
  };
  int keep_preset(PresetFile file, GraphDesc graph);

  PresetFolders folders_;
  std::vector<PresetFile> files_;
  std::vector<Known> known_;  // presets used in this run; the editor's history refers to them by index
  std::string last_used_;
  GraphDesc first_;  // the initial graph, saved by the first call of unsaved()
  bool has_first_ = false, unsaved_ = false;
  uint64_t checked_revision_ = 0;  // the editor's revision for which unsaved_ was computed
  int checked_preset_ = -1;
  uint64_t changes_ = 0, checked_changes_ = 0;
};

}  // namespace lensd::ui
