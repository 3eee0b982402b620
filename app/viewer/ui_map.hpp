// Where the controls are and what they show, for tests that drive the window: the file that LENSD_UI_MAP
// names.
//
//   ViewerUi, ViewerModel ── update() ──▶ lines "name x y w h" and "value/name number…", whole files only
//
// UI thread only. Without the variable it does nothing.
#pragma once

#include <string>

#include "ui/viewer_ui.hpp"

namespace lensd {

class UiMap {
 public:
  UiMap();
  bool wanted() const { return !path_.empty(); }
  /// Writes the file anew where a control has moved or a value has changed since the last time; nothing while
  /// controls are on the move from one display frame to the next.
  void update(const ui::ViewerUi& ui, const ui::ViewerModel& model);

 private:
  std::string path_, controls_, written_;
};

}  // namespace lensd
