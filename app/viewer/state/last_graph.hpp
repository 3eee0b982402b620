// The graph as it was last, saved as a preset or not: kept in the state folder, offered at the next start.
//
//   last-graph.toml ── constructor ──▶ UiState ("Resume last graph") ── keep(), every display frame ──▶ the
//   file
//
// UI thread. Losing the file loses the offer alone.
#pragma once

#include <cstdint>
#include <string>

#include "ui/panel.hpp"

namespace lensd {

class LastGraph {
 public:
  explicit LastGraph(ui::UiState& ui);
  /// Writes the file when the graph has changed and rested for a while; `now`: at once. An empty graph leaves
  /// the file as it is: it is what the next start begins with anyway.
  void keep(const ui::UiState& ui, bool now = false);

 private:
  std::string path_;
  uint64_t written_ = 0, seen_ = 0;  ///< the editor's revisions
  int64_t changed_ns_ = 0;
};

}  // namespace lensd
