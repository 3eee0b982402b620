#include "app/viewer/state/viewer_memory.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace lensd {
namespace {

constexpr int kDefaultWidth = 1280, kDefaultHeight = 720;
constexpr int64_t kRestNs = 1'000'000'000;
constexpr double kLeastSide = 200, kWidestSide = 560;  // logical pixels, as the panels' grips have it

std::string name(ui::Fold fold) {
  return fold == ui::Fold::open ? "open" : fold == ui::Fold::folded ? "folded" : "";
}

ui::Fold fold(const std::string& name) {
  return name == "open" ? ui::Fold::open : name == "folded" ? ui::Fold::folded : ui::Fold::automatic;
}

void take_width(double kept, float& width) {
  if (kept > 0) width = static_cast<float>(std::clamp(kept, kLeastSide, kWidestSide));
}

}  // namespace

ViewerMemory::ViewerMemory(ui::UiState& ui) : path_(viewer_state_path()) {
  kept_ = written_ = load_viewer_state(path_);
  take_width(kept_.left_width, ui.left_width), take_width(kept_.right_width, ui.right_width);
  ui.left = fold(kept_.left), ui.right = fold(kept_.right), ui.bottom = fold(kept_.bottom);
  ui.panels = kept_.panels, ui.scopes.open = kept_.scopes, ui.tracks.open = kept_.tracks;
  for (const ScopeKind kind :
       {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope})
    if (kept_.scope == lensd::name(kind)) ui.scopes.kind = kind;
  ui.preset_menu.last_used = kept_.last_preset;
  ui.preset_menu.last_graph_preset = kept_.graph_preset;
}

int ViewerMemory::width(int asked) const {
  return asked > 0 ? asked : kept_.window_width > 0 ? kept_.window_width : kDefaultWidth;
}

int ViewerMemory::height(int asked) const {
  return asked > 0 ? asked : kept_.window_height > 0 ? kept_.window_height : kDefaultHeight;
}

void ViewerMemory::played(const std::string& url) {
  // A file's name is worth nothing from another folder.
  std::error_code error;
  const bool file = std::filesystem::exists(url, error);
  remember_source(kept_, file ? std::filesystem::absolute(url, error).string() : url);
}

void ViewerMemory::forget(const std::string& url) {
  std::erase(kept_.recent_sources, url);
}

void ViewerMemory::keep(const ui::UiState& ui, const ui::Window& window, bool now) {
  if (path_.empty()) return;
  if (const Extent size = window.logical_size(); size.width > 0)
    kept_.window_width = size.width, kept_.window_height = size.height;
  kept_.left_width = ui.left_width, kept_.right_width = ui.right_width;
  kept_.left = name(ui.left), kept_.right = name(ui.right), kept_.bottom = name(ui.bottom);
  kept_.panels = ui.panels, kept_.scopes = ui.scopes.open, kept_.tracks = ui.tracks.open;
  kept_.scope = lensd::name(ui.scopes.kind);
  if (!ui.presets.last_used().empty()) kept_.last_preset = ui.presets.last_used();
  // Of an empty graph nothing is told: the last one that was not stays on offer.
  if (!ui.editor.graph().nodes.empty()) {
    const PresetFile* preset = ui.presets.current(ui.editor);
    kept_.graph_preset = preset ? preset->path : "";
  }
  const int64_t time_ns = now_ns();
  if (kept_ == written_) {
    changed_ns_ = 0;
    return;
  }
  if (changed_ns_ == 0) changed_ns_ = time_ns;
  if (!now && time_ns - changed_ns_ < kRestNs) return;
  written_ = kept_, changed_ns_ = 0;
  try {
    save_viewer_state(path_, kept_);
  } catch (const Error& e) {
    log::warn("{}", e.what());  // once for each change: the next one may find the disk mended
  }
}

}  // namespace lensd
