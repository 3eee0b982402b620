#include "app/viewer/state/viewer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/kept_controls.hpp"
#include "app/state_file.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/log.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/presets.hpp"
#include "core/config/save.hpp"
#include "core/media/url.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxChanges = 1000;  ///< maximum number of unsaved changes; older ones are dropped
constexpr int64_t kStateDelayNs = 1'000'000'000, kGraphDelayNs = 2'000'000'000;

std::string fold_name(ui::Fold fold) {
  return fold == ui::Fold::open ? "open" : fold == ui::Fold::folded ? "folded" : "";
}

ui::Fold fold(const std::string& name) {
  return name == "open" ? ui::Fold::open : name == "folded" ? ui::Fold::folded : ui::Fold::automatic;
}

void restore_width(double saved, float& width) {
  if (saved > 0) width = std::clamp(static_cast<float>(saved), ui::kMinSideWidth, ui::kMaxSideWidth);
}

/// Runs `write`. Logs a failure and returns false. The caller tries again only after the next change.
template <class F>
bool write_or_warn(const F& write) {
  try {
    write();
    return true;
  } catch (const Error& e) {
    log::warn("{}", e.what());
    return false;
  }
}

}  // namespace

ViewerMemory::ViewerMemory(ui::UiState& ui) : state_path_(viewer_state_path()) {
  state_ = saved_ = load_viewer_state(state_path_).value_or(ViewerState());
  restore_width(state_.left_width, ui.left_width), restore_width(state_.right_width, ui.right_width);
  ui.left = fold(state_.left), ui.right = fold(state_.right), ui.bottom = fold(state_.bottom);
  ui.scopes.open = state_.scopes, ui.tracks.open = state_.tracks;
  ui.camera.open = state_.camera;
  for (const ScopeKind kind :
       {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope})
    if (state_.scope == name(kind)) ui.scopes.kind = kind;
  ui.graph.folded.insert(state_.folded_nodes.begin(), state_.folded_nodes.end());
  ui.preset_menu.last_used = state_.last_preset;
  ui.preset_menu.last_graph_preset = state_.graph_preset;
  const std::string folder = state_folder();
  if (folder.empty()) return;
  graph_path_ = folder + "/last-graph.toml";
  std::error_code ignored;
  if (!std::filesystem::exists(graph_path_, ignored)) return;
  try {
    ui.preset_menu.last_graph = load_preset(graph_path_, registry());
  } catch (const Error& e) {
    // The file may be from a version with other filters.
    keep_damaged(graph_path_, fmt::format("cannot restore the last graph: {}", e.what()));
  }
}

int ViewerMemory::width(const Config& config) const {
  return state_.window_width == 0 || config.has("window.width") ? config.window_width : state_.window_width;
}

int ViewerMemory::height(const Config& config) const {
  return state_.window_height == 0 || config.has("window.height") ? config.window_height
                                                                  : state_.window_height;
}

double ViewerMemory::volume(const Config& config) const {
  return config.has("audio.volume") ? config.audio_volume : state_.volume;
}

bool ViewerMemory::muted(const Config& config) const {
  return config.has("audio.mute") ? config.audio_mute : state_.muted;
}

void ViewerMemory::keep_sound(const Config& config, double volume, bool muted) {
  volume_chosen_ = volume_chosen_ || !config.has("audio.volume") || volume != config.audio_volume;
  mute_chosen_ = mute_chosen_ || !config.has("audio.mute") || muted != config.audio_mute;
  if (volume_chosen_) state_.volume = volume;
  if (mute_chosen_) state_.muted = muted;
}

/// Applies a change to state_ now, and to the file at the next save.
void ViewerMemory::change(Change change) {
  change(state_);
  changes_.push_back(std::move(change));
  if (changes_.size() > kMaxChanges) changes_.pop_front();
}

void ViewerMemory::add_recent(const std::string& url) {
  const bool sequence = may_be_path(url) && is_sequence_pattern(url);
  change(
      [source = sequence ? absolute_path(url) : url](ViewerState& state) { remember_source(state, source); });
}

void ViewerMemory::remove_recent(const std::string& url) {
  change([url](ViewerState& state) { std::erase(state.recent_sources, url); });
}

int64_t ViewerMemory::position_of(const std::string& url) const {
  const std::string path = absolute_path(url);
  for (const auto& [file, seconds] : state_.positions)
    if (file == path) return static_cast<int64_t>(seconds * 1e9);
  return 0;
}

void ViewerMemory::keep_position(const std::string& path, int64_t position_ns, int64_t duration_ns) {
  change([file = absolute_path(path), position_ns, duration_ns](ViewerState& state) {
    remember_position(state, file, to_s(position_ns), to_s(duration_ns));
  });
}

void ViewerMemory::keep_controls(const SourceControls& controls) {
  if (controls.version == controls_version_ && controls.device == controls_device_) return;
  controls_version_ = controls.version, controls_device_ = controls.device;
  change([device = controls.device, wanted = controls.wanted](ViewerState& state) {
    remember_controls(state.controls, device, wanted);
  });
}

void ViewerMemory::update_state(const ui::UiState& ui, Extent window) {
  if (window.width > 0) state_.window_width = window.width, state_.window_height = window.height;
  state_.left_width = ui.left_width, state_.right_width = ui.right_width;
  state_.left = fold_name(ui.left), state_.right = fold_name(ui.right), state_.bottom = fold_name(ui.bottom);
  state_.scopes = ui.scopes.open, state_.tracks = ui.tracks.open;
  state_.camera = ui.camera.open;
  state_.scope = name(ui.scopes.kind);
  if (!ui.presets.last_used().empty()) state_.last_preset = ui.presets.last_used();
  // Do not save an empty graph; keep the previous one.
  if (ui.editor.graph().nodes.empty()) return;
  const PresetFile* preset = ui.presets.current(ui.editor);
  state_.graph_preset = preset ? preset->path : "";
  state_.folded_nodes.clear();
  for (const NodeDesc& node : ui.editor.graph().nodes)
    if (ui.graph.folded.contains(node.id)) state_.folded_nodes.push_back(node.id);
}

/// Reads the lists in the file again and applies this viewer's changes to them.
void ViewerMemory::merge_file() {
  std::optional<ViewerState> other = load_viewer_state(state_path_);
  if (!other) return;
  for (const Change& change : changes_) change(*other);
  state_.recent_sources = std::move(other->recent_sources);
  state_.positions = std::move(other->positions);
  state_.controls = std::move(other->controls);
}

void ViewerMemory::save(const ui::UiState& ui, Extent window, bool now) {
  save_graph(ui.editor, now);
  if (state_path_.empty()) return;
  update_state(ui, window);
  const int64_t time_ns = now_ns();
  // At the end, also write changes that do not alter this viewer's state: they may alter what other viewers
  // have saved.
  const bool pending = now && !changes_.empty();
  if (state_ == saved_ && !pending) {
    state_changed_ns_ = 0;
    return;
  }
  if (state_changed_ns_ == 0) state_changed_ns_ = time_ns;
  if (!now && time_ns - state_changed_ns_ < kStateDelayNs) return;
  const StateLock lock(state_path_);
  merge_file();
  saved_ = state_, state_changed_ns_ = 0;
  if (write_or_warn([&] { save_viewer_state(state_path_, state_); })) changes_.clear();
}

void ViewerMemory::save_graph(const ui::GraphEditor& editor, bool now) {
  if (graph_path_.empty() || !editor.registry()) return;
  const int64_t time_ns = now_ns();
  if (editor.revision() != graph_revision_) graph_revision_ = editor.revision(), graph_changed_ns_ = time_ns;
  if (graph_revision_ == saved_revision_ || (!now && time_ns - graph_changed_ns_ < kGraphDelayNs)) return;
  saved_revision_ = graph_revision_;
  if (editor.graph().nodes.empty()) return;
  write_or_warn([&] {
    const std::string text = graph_text(editor.graph(), "", graph_path_, *editor.registry());
    write_whole_file(graph_path_, text, Flush::none);
  });
}

}  // namespace lensd
