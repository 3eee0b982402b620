// Restores the viewer's state from the previous run and saves it for the next one: ViewerState, and the last
// graph with unsaved changes. Call from the UI thread only.
//
//   state.toml, last-graph.toml ── constructor ──▶ UiState ── save(), every display frame ──▶ changed files
//
// Several viewers may run at once. save() applies this viewer's changes of recent sources, positions and
// camera values to those in the file, so that no viewer removes what another one has added. The other values
// are those of the viewer that saved last.
//
// Functions that take paths do not access their files, which may be on a dead network folder.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "app/viewer/state/viewer_state.hpp"
#include "core/config/config.hpp"
#include "core/image/view.hpp"
#include "ui/panel.hpp"

namespace lensd {

class ViewerMemory {
 public:
  /// Reads the files and restores `ui`. Ignores files that are missing or invalid.
  explicit ViewerMemory(ui::UiState& ui);

  /// Returns the window's width in logical pixels: as configured, else as in the last run, else the default.
  int width(const Config& config) const;
  /// Returns the window's height in logical pixels: as configured, else as in the last run, else the default.
  int height(const Config& config) const;

  /// Returns the volume in percent: as configured, else as in the last run.
  double volume(const Config& config) const;
  bool muted(const Config& config) const;
  /// Keeps the sound's settings for the next run. Ignores configured values until the user has changed them.
  void keep_sound(const Config& config, double volume, bool muted);

  /// Adds a source to the front of recent_sources(), or moves it there. Paths must be absolute, because the
  /// next run may start in another folder.
  void add_recent(const std::string& url);
  void remove_recent(const std::string& url);
  const std::vector<std::string>& recent_sources() const { return state_.recent_sources; }

  /// Returns the position in nanoseconds at which playback of a file stopped, or 0 if none is stored.
  int64_t position_of(const std::string& url) const;
  /// Stores the position of a regular file.
  void keep_position(const std::string& path, int64_t position_ns, int64_t duration_ns);

  /// Stores the values that the user has set for a camera.
  void keep_controls(const SourceControls& controls);
  const KeptControls& kept_controls() const { return state_.controls; }

  /// Writes the state one second and the graph two seconds after a change, or immediately if `now` is true.
  /// Call in every display frame. Logs failures. `window`: the window's size in logical pixels.
  void save(const ui::UiState& ui, Extent window, bool now = false);

 private:
  using Change = std::function<void(ViewerState& state)>;
  void change(Change change);
  void merge_file();
  void update_state(const ui::UiState& ui, Extent window);
  void save_graph(const ui::GraphEditor& editor, bool now);

  std::string state_path_, graph_path_;
  ViewerState state_, saved_;
  std::deque<Change> changes_;  ///< changes of sources, positions and controls since the last save
  bool volume_chosen_ = false, mute_chosen_ = false;  ///< the value has differed from the configured one
  int64_t state_changed_ns_ = 0, graph_changed_ns_ = 0;
  std::string controls_device_;                       ///< camera of the last keep_controls()
  uint64_t controls_version_ = 0;                     ///< SourceControls::version of the last keep_controls()
  uint64_t graph_revision_ = 0, saved_revision_ = 0;  ///< GraphEditor::revision() now and at the last save
};

}  // namespace lensd
