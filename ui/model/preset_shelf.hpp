// The presets as the viewer knows them: which one the graph came from, and saving it.
//
//   files ── load() ──▶ GraphEditor          (undo brings the graph before, and the preset that it came from)
//   GraphEditor ── save(), save_as() ──▶ files
//
// Everything throws Error with what is wrong. UI thread; saving flushes the disk and may take tens of
// milliseconds.
#pragma once

#include <string>
#include <vector>

#include "core/config/presets.hpp"
#include "ui/model/graph_editor.hpp"

namespace lensd::ui {

class PresetShelf {
 public:
  explicit PresetShelf(PresetFolders folders = {}) : folders_(std::move(folders)) {}

  /// The file that the graph was read from before the viewer began; `graph` is what it held.
  void began_with(const std::string& path, GraphDesc graph, GraphEditor& editor);

  /// Reads the folders again.
  void refresh() { files_ = list_presets(folders_); }
  const std::vector<PresetFile>& files() const { return files_; }
  const std::string& own_folder() const { return folders_.own; }

  void load(const std::string& path, GraphEditor& editor);
  /// A graph that was made from the preset in `path` (empty, or gone: from none), perhaps not saved since.
  void resume(GraphDesc graph, const std::string& path, GraphEditor& editor);
  /// Null: the graph came from no file.
  const PresetFile* current(const GraphEditor& editor) const;
  /// True when the graph is not what its preset holds; without a preset, when it is not what it began as.
  bool unsaved(const GraphEditor& editor);
  void revert(GraphEditor& editor);

  /// False where a name is needed first: no preset is loaded, or an example.
  bool save(GraphEditor& editor);
  void save_as(const std::string& name, GraphEditor& editor);
  /// True when save_as() would replace another preset than the one that is loaded.
  bool replaces(const std::string& name, const GraphEditor& editor) const;
  void remove(const std::string& path);

  /// Path of the preset that was loaded or saved last; empty: none.
  const std::string& last_used() const { return last_used_; }

 private:
  struct Shelved {
    PresetFile file;
    GraphDesc graph;
  };
  int shelve(PresetFile file, GraphDesc graph);

  PresetFolders folders_;
  std::vector<PresetFile> files_;
  std::vector<Shelved> shelved_;  // every preset of this run; the editor's history refers to them by number
  std::string last_used_;
  GraphDesc first_;  // of a graph without a preset
  bool has_first_ = false, unsaved_ = false;
  uint64_t judged_ = 0;  // the editor's revision that unsaved_ is about
  int judged_preset_ = -1;
  uint64_t changes_ = 0, judged_changes_ = 0;
};

}  // namespace lensd::ui
