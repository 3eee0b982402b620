#include "app/viewer/state/viewer_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/kept_controls.hpp"
#include "app/state_file.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/base/text/utf8.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/toml.hpp"
#include "core/config/toml_text.hpp"
#include "core/pipeline/playback_sound.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxBytes = 1 << 18;
constexpr size_t kMaxFolded = 256;
constexpr int kMinWindow = 64, kMaxWindow = 16384;

template <class T>
void take(const toml::table& table, const char* key, T& target) {
  if (const auto value = table[key].value<T>()) target = *value;
}

void take_side(const toml::table& table, const char* key, std::string& target) {
  const auto value = table[key].value<std::string>();
  if (value && (*value == "open" || *value == "folded")) target = *value;
}

void take_path(const toml::table& table, const char* key, std::string& target) {
  if (const auto value = table[key].value<std::string>()) target = without_file_scheme(*value);
}

/// Returns a path in a form that TOML can hold: a path that is not UTF-8 becomes a file:// address. Returns
/// an empty string for a relative path that is not UTF-8.
std::string stored_path(const std::string& path) {
  if (is_utf8(path)) return path;
  return path.starts_with('/') ? file_address(path) : "";
}

ViewerState state_of(const toml::table& root) {
  ViewerState state;
  if (const toml::table* window = root["window"].as_table()) {
    int width = 0, height = 0;
    take(*window, "width", width), take(*window, "height", height);
    const auto sane = [](int n) { return n >= kMinWindow && n <= kMaxWindow; };
    if (sane(width) && sane(height)) state.window_width = width, state.window_height = height;
  }
  if (const toml::table* panels = root["panels"].as_table()) {
    take(*panels, "left_width", state.left_width), take(*panels, "right_width", state.right_width);
    if (!std::isfinite(state.left_width)) state.left_width = 0;
    if (!std::isfinite(state.right_width)) state.right_width = 0;
    take_side(*panels, "left", state.left), take_side(*panels, "right", state.right);
    take_side(*panels, "bottom", state.bottom);
    take(*panels, "scopes", state.scopes), take(*panels, "tracks", state.tracks);
    take(*panels, "camera", state.camera);
    take(*panels, "scope", state.scope);
  }
  if (const toml::table* audio = root["audio"].as_table()) {
    take(*audio, "volume", state.volume), take(*audio, "mute", state.muted);
    if (!(state.volume >= 0 && state.volume <= kMaxVolume)) state.volume = ViewerState().volume;
  }
  take_path(root, "last_preset", state.last_preset), take_path(root, "graph_preset", state.graph_preset);
  if (const toml::array* recent = root["recent_sources"].as_array())
    for (const toml::node& item : *recent)
      if (const auto text = item.value<std::string>();
          text && state.recent_sources.size() < kMaxRecentSources)
        if (const std::string url = without_file_scheme(*text); !holds_secrets(url))
          state.recent_sources.push_back(url);
  if (const toml::array* folded = root["folded_nodes"].as_array())
    for (const toml::node& item : *folded)
      if (const auto id = item.value<std::string>(); id && state.folded_nodes.size() < kMaxFolded)
        state.folded_nodes.push_back(*id);
  if (const toml::array* positions = root["positions"].as_array())
    for (const toml::node& item : *positions) {
      const toml::array* pair = item.as_array();
      if (!pair || pair->size() != 2 || state.positions.size() >= kMaxPositions) continue;
      const auto path = pair->get(0)->value<std::string>();
      const auto seconds = pair->get(1)->value<double>();
      if (path && seconds && *seconds >= 0 && *seconds < 1e9)
        state.positions.emplace_back(without_file_scheme(*path), *seconds);
    }
  state.controls = parse_kept_controls(root);
  return state;
}

}  // namespace

void remember_source(ViewerState& state, const std::string& url) {
  if (url.empty() || url == "-" || holds_secrets(url)) return;
  std::erase(state.recent_sources, url);
  state.recent_sources.insert(state.recent_sources.begin(), url);
  if (state.recent_sources.size() > kMaxRecentSources) state.recent_sources.resize(kMaxRecentSources);
}

void remember_position(ViewerState& state, const std::string& path, double position_s, double duration_s) {
  constexpr double kShortest = 60, kStart = 10;
  auto& all = state.positions;
  std::erase_if(all, [&](const auto& one) { return one.first == path; });
  const double end = duration_s - std::max(kStart, duration_s * 0.03);
  if (path.empty() || duration_s < kShortest || position_s < kStart || position_s > end) return;
  all.insert(all.begin(), {path, position_s});
  if (all.size() > kMaxPositions) all.resize(kMaxPositions);
}

ViewerState parse_viewer_state(const std::string& text) {
  const toml::parse_result parsed = parse_toml(text, "state");
  return parsed ? state_of(parsed.table()) : ViewerState();
}

std::string to_toml(const ViewerState& state) {
  std::string text = "# Written by lensd when something changes; may be deleted.\n";
  text += fmt::format("last_preset = {}\n", toml_quoted(stored_path(state.last_preset)));
  if (!state.graph_preset.empty())
    text += fmt::format("graph_preset = {}\n", toml_quoted(stored_path(state.graph_preset)));
  text += "recent_sources = [";
  for (const std::string& url : state.recent_sources)
    if (const std::string stored = stored_path(url); !stored.empty())
      text += fmt::format("\n  {},", toml_quoted(stored));
  text += state.recent_sources.empty() ? "]\n" : "\n]\n";
  if (!state.folded_nodes.empty()) {
    text += "folded_nodes = [";
    for (const std::string& id : state.folded_nodes) text += fmt::format("\n  {},", toml_quoted(id));
    text += "\n]\n";
  }
  text += "positions = [";
  for (const auto& [path, seconds] : state.positions)
    if (const std::string stored = stored_path(path); !stored.empty())
      text += fmt::format("\n  [{}, {:.2f}],", toml_quoted(stored), seconds);
  text += state.positions.empty() ? "]\n" : "\n]\n";
  if (state.window_width > 0 && state.window_height > 0)
    text += fmt::format("\n[window]\nwidth = {}\nheight = {}\n", state.window_width, state.window_height);
  text += fmt::format("\n[audio]\nvolume = {:.1f}\nmute = {}\n", state.volume, state.muted);
  text += fmt::format("\n[panels]\nleft_width = {:.1f}\nright_width = {:.1f}\n", state.left_width,
                      state.right_width);
  for (const auto& [key, side] :
       {std::pair{"left", &state.left}, {"right", &state.right}, {"bottom", &state.bottom}})
    if (!side->empty()) text += fmt::format("{} = {}\n", key, toml_quoted(*side));
  text += fmt::format("scopes = {}\ntracks = {}\ncamera = {}\n", state.scopes, state.tracks, state.camera);
  if (!state.scope.empty()) text += fmt::format("scope = {}\n", toml_quoted(state.scope));
  return text + to_toml(state.controls);
}

std::string viewer_state_path() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/state.toml";
}

std::optional<ViewerState> load_viewer_state(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    const std::optional<toml::table> table = read_state_file(path, kMaxBytes);
    return table ? std::optional(state_of(*table)) : std::nullopt;
  } catch (const Error& e) {
    keep_damaged(path, e.what());
    return std::nullopt;
  }
}

void save_viewer_state(const std::string& path, const ViewerState& state) {
  write_whole_file(path, to_toml(state), Flush::none);
}

}  // namespace lensd
