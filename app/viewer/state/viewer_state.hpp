// What the viewer remembers from run to run: $XDG_STATE_HOME/lensd/state.toml.
//
// Nothing here is needed: what is missing, unknown or damaged is passed over and the defaults stand.
// Plain values; the viewer's thread reads and writes the file.
#pragma once

#include <string>
#include <vector>

namespace lensd {

struct ViewerState {
  int window_width = 0, window_height = 0;             ///< logical pixels; 0: not known
  double left_width = 0, right_width = 0;              ///< logical pixels; 0: not known
  std::string left, right, bottom;                     ///< "open", "folded", empty: as there is room
  bool panels = true, scopes = false, tracks = false;  ///< shown
  std::string scope;                                   ///< "histogram" …; empty: not known
  std::string last_preset;                             ///< path
  std::string graph_preset;                 ///< path of the preset that the last graph came from; empty: none
  std::vector<std::string> recent_sources;  ///< newest first
  bool operator==(const ViewerState&) const = default;
};

inline constexpr size_t kMostRecentSources = 20;

/// Puts a source first; each is there once. Secrets stay out: addresses with a password are not remembered.
void remember_source(ViewerState& state, const std::string& url);

ViewerState parse_viewer_state(const std::string& text);
std::string to_toml(const ViewerState& state);

/// The file's path; empty where there is no home.
std::string viewer_state_path();
/// Defaults when the file is not there or is not to be read.
ViewerState load_viewer_state(const std::string& path);
/// Replaces the file whole. Throws Error(runtime_failure).
void save_viewer_state(const std::string& path, const ViewerState& state);

}  // namespace lensd
