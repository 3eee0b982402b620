// What the viewer takes over from the run before, and keeps for the next: sizes, folds, recent sources, the
// last preset. The file is app/viewer/state/viewer_state.hpp's; losing it loses nothing of worth.
//
//   state.toml ── constructor ──▶ UiState ── keep(), every display frame ──▶ state.toml, when something
//   changed
//
// UI thread.
#pragma once

#include <string>

#include "app/viewer/state/viewer_state.hpp"
#include "ui/gl/window.hpp"
#include "ui/panel.hpp"

namespace lensd {

class ViewerMemory {
 public:
  /// Reads the file and sets the interface up as it was.
  explicit ViewerMemory(ui::UiState& ui);

  /// Logical pixels: `asked` where that is given, else as last time, else the default.
  int width(int asked) const;
  int height(int asked) const;

  /// A source was opened on the user's wish.
  void played(const std::string& url);
  /// It is not to be offered again.
  void forget(const std::string& url);
  const std::vector<std::string>& recent_sources() const { return kept_.recent_sources; }

  /// Writes the file when something has changed and rested for a while; `now`: at once.
  void keep(const ui::UiState& ui, const ui::Window& window, bool now = false);

 private:
  std::string path_;
  ViewerState kept_, written_;
  int64_t changed_ns_ = 0;
};

}  // namespace lensd
