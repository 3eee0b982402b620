// The viewer's state between runs, in $XDG_STATE_HOME/lensd/state.toml.
//
// Unknown and invalid entries are ignored. Missing and invalid entries keep their defaults.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/pipeline/source_control.hpp"

namespace lensd {

struct ViewerState {
  int window_width = 0, window_height = 0;              ///< logical pixels; 0: not set
  double left_width = 0, right_width = 0;               ///< logical pixels; 0: not set
  std::string left, right, bottom;                      ///< "open" or "folded"; empty: automatic
  bool scopes = false, tracks = false, camera = false;  ///< whether each part is shown
  double volume = 100;                                  ///< percent
  bool muted = false;
  std::string scope;                        ///< name of a ScopeKind; empty: not set
  std::string last_preset;                  ///< path of the last loaded or saved preset
  std::string graph_preset;                 ///< path of the last graph's preset; empty: none
  std::vector<std::string> recent_sources;  ///< newest first
  std::vector<std::string> folded_nodes;    ///< ids of nodes with folded parameters
  /// Files with the position in seconds at which playback stopped, newest first.
  std::vector<std::pair<std::string, double>> positions;
  KeptControls controls;  ///< values that the user has set, by camera
  bool operator==(const ViewerState&) const = default;
};

inline constexpr size_t kMaxRecentSources = 20, kMaxPositions = 50;

/// Adds a source to the front of recent_sources, or moves it there. Ignores "-" and URLs that hold secrets
/// (core/base/text/url_secrets.hpp).
void remember_source(ViewerState& state, const std::string& url);

/// Stores the position at which playback of a file stopped. Removes the stored position if the new one is
/// near the start or the end, or if the file is shorter than a minute.
void remember_position(ViewerState& state, const std::string& path, double position_s, double duration_s);

ViewerState parse_viewer_state(const std::string& text);
std::string to_toml(const ViewerState& state);

/// Returns the path of the state file, or an empty string if there is no home folder.
std::string viewer_state_path();
/// Reads the state. Returns nullopt if the file is missing or cannot be used. Keeps a copy of a file that
/// cannot be used (keep_damaged()), because save_viewer_state() replaces it.
std::optional<ViewerState> load_viewer_state(const std::string& path);
/// Replaces the file atomically. Throws Error(runtime_failure) if it cannot be written.
void save_viewer_state(const std::string& path, const ViewerState& state);

}  // namespace lensd
