#include "app/viewer/sources/playlist.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text/source_text.hpp"
#include "core/media/media_folder.hpp"

namespace lensd {
namespace {

/// Returns a function that returns true if its argument names the same source as `source`, for example a file
/// by its relative and its absolute path. It does not access files. It compares file names first,
/// because computing the absolute path of each source in a long list takes too long.
auto same_source_as(const std::string& source) {
  const std::string path = absolute_path(source);
  return [source, path, name = std::filesystem::path(path).filename().string()](const std::string& other) {
    return other == source || (!path.empty() && other.ends_with(name) && absolute_path(other) == path);
  };
}

}  // namespace

std::vector<std::string> expand_sources(const std::vector<std::string>& sources) {
  std::vector<std::string> all;
  for (const std::string& given : sources) {
    const std::string source = without_file_scheme(given);
    std::error_code ignored;
    if (!std::filesystem::is_directory(source, ignored)) {
      all.push_back(source);
      continue;
    }
    const FolderList list =
        list_media_folder(source, {}, std::numeric_limits<size_t>::max(), FileSizes::omit);
    if (!list.problem.empty()) throw Error(ExitCode::bad_source, source, list.problem);
    const size_t before = all.size();
    for (const FolderEntry& entry : list.entries)
      if (entry.kind == FolderEntry::Kind::file || entry.kind == FolderEntry::Kind::sequence)
        all.push_back((std::filesystem::path(list.folder) / entry.name).string());
    if (all.size() == before)
      throw Error(ExitCode::bad_source, source, "there are no videos or images in this folder");
  }
  return all;
}

bool is_one_file(const std::vector<std::string>& given, const std::vector<std::string>& found) {
  return given.size() == 1 && found.size() == 1 && found.front() == without_file_scheme(given.front());
}

void Playlist::set(std::vector<std::string> sources) {
  chosen_ = {std::make_shared<const std::vector<std::string>>(std::move(sources)), 0};
}

std::optional<std::string> Playlist::step(int by) {
  if (by < 0 && chosen_.index == 0) return std::nullopt;
  return select(by < 0 ? chosen_.index - 1 : chosen_.index + 1);
}

std::optional<std::string> Playlist::select(size_t index) {
  if (index >= chosen_.sources->size()) return std::nullopt;
  chosen_.index = index;
  return (*chosen_.sources)[index];
}

std::optional<std::string> Playlist::select_shown(size_t index) {
  if (index >= playing_.sources->size()) return std::nullopt;
  revert();
  return select(index);
}

void Playlist::insert(const std::string& source) {
  revert();
  const std::vector<std::string>& shown = *playing_.sources;
  if (shown.size() < 2) return;
  if (const auto found = std::ranges::find_if(shown, same_source_as(source)); found != shown.end()) {
    chosen_.index = static_cast<size_t>(found - shown.begin());
    return;
  }
  std::vector<std::string> all = shown;
  ++chosen_.index;
  all.insert(all.begin() + static_cast<ptrdiff_t>(chosen_.index), source);
  chosen_.sources = std::make_shared<const std::vector<std::string>>(std::move(all));
}

void Playlist::playing(const std::string& source) {
  const std::vector<std::string>& all = *chosen_.sources;
  const auto same = same_source_as(source);
  if (chosen_.index >= all.size() || !same(all[chosen_.index])) {
    const auto found = std::ranges::find_if(all, same);
    if (found != all.end())
      chosen_.index = static_cast<size_t>(found - all.begin());
    else
      set({source});
  }
  opened();
}

}  // namespace lensd
