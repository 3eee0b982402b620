#include "ui/panels/source/source_list.hpp"

#include <algorithm>

#include "core/base/text/source_text.hpp"
#include "core/base/text/text.hpp"

namespace lensd::ui {
namespace {

/// Returns how well an entry matches. 0: equal; 1: prefix; 2: substring; 3: no match.
int fit(const FolderEntry& entry, const std::string& part, const std::string& low_part) {
  if (entry.name == part) return 0;
  const size_t at = lower_case(entry.name).find(low_part);
  return at == std::string::npos ? 3 : at == 0 ? 1 : 2;
}

std::string with_slash(std::string folder) {
  if (folder.empty() || folder.back() != '/') folder += '/';
  return folder;
}

}  // namespace

SourceList source_list(PanelContext& ctx) {
  SourceState& s = ctx.state.source;
  SourceList list;
  list.choices = ctx.model.choices;
  const auto typed = typed_path(s.text);
  const bool elsewhere = typed && !typed->folder.empty();
  // Relative paths resolve against the listed folder.
  list.folder = elsewhere
                    ? typed->folder.front() == '/' ? typed->folder : with_slash(s.folder) + typed->folder
                    : with_slash(s.folder);
  s.listed = list.folder, s.listed_part.clear();
  if (!list.choices || !typed) return list;
  const FolderList& files = list.choices->files;
  list.there = with_slash(files.folder) == list.folder || files.asked == list.folder;
  if (!list.there) return list;
  if (files.cut || !files.part.empty()) s.listed_part = typed->part;
  list.searching = files.part != s.listed_part;
  const std::string low = lower_case(typed->part);
  std::vector<std::pair<int, const FolderEntry*>> fitting;
  for (const FolderEntry& entry : files.entries) {
    if (typed->part.empty() && entry.kind == FolderEntry::Kind::other) continue;
    const int how = typed->part.empty() ? 1 : fit(entry, typed->part, low);
    if (how < 3) fitting.emplace_back(entry.kind == FolderEntry::Kind::other && how > 0 ? 3 : how, &entry);
  }
  std::ranges::stable_sort(fitting, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [how, entry] : fitting) list.lines.push_back(entry);
  const int count = static_cast<int>(list.lines.size());
  const auto is_chosen = [&](const FolderEntry* entry) { return entry->name == s.chosen; };
  if (s.choice >= 0)
    if (const auto line = std::ranges::find_if(list.lines, is_chosen); line != list.lines.end())
      s.choice = static_cast<int>(line - list.lines.begin());
  list.chosen = std::min(s.choice, count - 1);
  // Choose the best match, unless the arrow keys chose another line.
  if (list.chosen < 0 && !typed->part.empty() && count > 0) list.chosen = 0;
  return list;
}

void move_choice(SourceState& state, const SourceList& list, Key key) {
  if (key != Key::up && key != Key::down) return;
  const int count = static_cast<int>(list.lines.size());
  // `list` may be older than the choice if several keys were pressed since the last frame.
  const int from = state.choice >= 0 ? std::min(state.choice, count - 1) : list.chosen;
  state.choice = std::clamp(from + (key == Key::down ? 1 : -1), count > 0 ? 0 : -1, count - 1);
  if (state.choice >= 0) state.chosen = list.lines[static_cast<size_t>(state.choice)]->name;
}

std::optional<std::string> completed(const SourceList& list, const std::string& text) {
  const auto typed = typed_path(text);
  if (!typed || list.lines.empty() || list.searching) return std::nullopt;
  const size_t slash = text.rfind('/');
  const std::string before = slash == std::string::npos ? "" : text.substr(0, slash + 1);
  const auto named = [&](const FolderEntry& entry) {
    return before + entry.name + (entry.kind == FolderEntry::Kind::folder ? "/" : "");
  };
  std::vector<const FolderEntry*> fitting;
  const std::string low = lower_case(typed->part);
  for (const FolderEntry* entry : list.lines)
    if (lower_case(entry->name).starts_with(low)) fitting.push_back(entry);
  if (fitting.size() == 1) return named(*fitting.front());
  std::string shared = fitting.empty() ? "" : fitting.front()->name;
  for (const FolderEntry* entry : fitting) {
    const auto differ = std::mismatch(shared.begin(), shared.end(), entry->name.begin(), entry->name.end());
    shared.erase(differ.first, shared.end());
  }
  if (shared.size() > typed->part.size()) return before + shared;
  return list.chosen >= 0 ? std::optional(named(*list.lines[static_cast<size_t>(list.chosen)]))
                          : std::nullopt;
}

void enter_folder(SourceState& state, std::string folder) {
  state.folder = std::move(folder);
  state.text.clear(), state.camera.clear(), state.problem.clear();
  state.choice = -1, state.focus_box = true, state.may_wait = state.refused = false;
}

void take_entry(PanelContext& ctx, ViewerRequests& requests, const SourceList& list,
                const FolderEntry& entry) {
  const std::string path = with_slash(list.choices->files.folder) + entry.name;
  if (entry.kind == FolderEntry::Kind::folder) return enter_folder(ctx.state.source, path);
  request_source(ctx, requests, source_request(path));
}

void open_choice(PanelContext& ctx, ViewerRequests& requests, const SourceList& list) {
  if (list.chosen >= 0) return take_entry(ctx, requests, list, *list.lines[static_cast<size_t>(list.chosen)]);
  // Relative paths resolve against the listed folder.
  std::string text = tidy_source(ctx.state.source.text);
  const auto typed = typed_path(text);
  if (typed && !text.empty() && text.front() != '/' && list.folder.size() > 1)
    text = list.folder + typed->part;
  request_source(ctx, requests, source_request(text));
}

}  // namespace lensd::ui
