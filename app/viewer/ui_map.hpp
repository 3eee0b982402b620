// Writes positions of controls and shown values to a file, for tests that drive the window. The environment
// variable LENSD_UI_MAP names the file. Does nothing without the variable.
//
//   ViewerUi, ViewerModel ── update() ──▶ lines "name x y w h" and "value/name VALUE…", replaced atomically
//
// Call from the UI thread only.
#pragma once

#include <string>

#include "ui/viewer_ui.hpp"

namespace lensd {

class UiMap {
 public:
  UiMap();
  bool wanted() const { return !path_.empty(); }
  /// Rewrites the file if controls or values have changed. Skips frames in which controls moved since the
  /// previous frame, because new menus need two frames to reach their position.
  void update(const ui::ViewerUi& ui, const ui::ViewerModel& model);

 private:
  std::string path_, controls_, written_;
};

}  // namespace lensd
