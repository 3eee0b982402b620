#include "app/viewer/sources/playlist.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"
#include "core/media/media_folder.hpp"

namespace lensd {

std::vector<std::string> expand_sources(const std::vector<std::string>& sources) {
  std::vector<std::string> all;
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(source, ignored)) {
      all.push_back(source);
      continue;
    }
    const FolderList list = list_media_folder(source);
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

void Playlist::set(std::vector<std::string> sources) {
  if (!before_) before_ = list_;
  list_ = {std::make_shared<const std::vector<std::string>>(std::move(sources)), 0};
  chosen_ = 0;
}

std::optional<std::string> Playlist::step(int by) {
  if (by < 0 && chosen_ == 0) return std::nullopt;
  return select(by < 0 ? chosen_ - 1 : chosen_ + 1);
}

std::optional<std::string> Playlist::select(size_t index) {
  if (index >= list_.sources->size()) return std::nullopt;
  chosen_ = index;
  return (*list_.sources)[index];
}

void Playlist::opened() {
  list_.current = chosen_;
  before_.reset();
}

void Playlist::playing(const std::string& source) {
  const std::vector<std::string>& all = *list_.sources;
  if (chosen_ >= all.size() || all[chosen_] != source) {
    const auto found = std::find(all.begin(), all.end(), source);
    found == all.end() ? set({source}) : void(chosen_ = static_cast<size_t>(found - all.begin()));
  }
  opened();
}

void Playlist::give_up() {
  if (before_) list_ = *std::exchange(before_, std::nullopt);
  chosen_ = list_.current;
}

}  // namespace lensd
