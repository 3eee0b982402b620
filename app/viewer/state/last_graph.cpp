#include "app/viewer/state/last_graph.hpp"

#include <filesystem>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/presets.hpp"
#include "core/config/save.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr int64_t kRestNs = 2'000'000'000;

}  // namespace

LastGraph::LastGraph(ui::UiState& ui) {
  const std::string folder = state_folder();
  if (folder.empty()) return;
  path_ = folder + "/last-graph.toml";
  std::error_code none;
  if (!std::filesystem::exists(path_, none)) return;
  try {
    ui.preset_menu.last_graph = load_preset(path_, registry());
  } catch (const Error& e) {
    log::info("the last graph is not offered: {}", e.what());  // as of another version with other filters
  }
}

void LastGraph::keep(const ui::UiState& ui, bool now) {
  const ui::GraphEditor& editor = ui.editor;
  if (path_.empty() || !editor.registry()) return;
  const int64_t time_ns = now_ns();
  if (editor.revision() != seen_) seen_ = editor.revision(), changed_ns_ = time_ns;
  if (seen_ == written_ || (!now && time_ns - changed_ns_ < kRestNs)) return;
  written_ = seen_;
  if (editor.graph().nodes.empty()) return;
  try {
    write_whole_file(path_, graph_text(editor.graph(), "", path_, *editor.registry()), Flush::none);
  } catch (const Error& e) {
    log::warn("{}", e.what());  // once for each change: the next one may find the disk mended
  }
}

}  // namespace lensd
