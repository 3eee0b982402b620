// The sources that the window plays one after another. Call from the UI thread only.
//
//   command line, dropped files ── expand_sources() ──▶ Playlist ── current(), step(), select() ──▶ Viewer
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lensd {

/// Replaces each folder with its image sequences, videos and images, in the order of the source dialog.
/// Throws Error(bad_source) if a folder cannot be read or contains none. May block on the disk.
std::vector<std::string> expand_sources(const std::vector<std::string>& sources);
/// Returns true if `given` is a single source other than a folder. `found`: expand_sources(given).
bool is_one_file(const std::vector<std::string>& given, const std::vector<std::string>& found);

class Playlist {
 public:
  /// Replaces the list and chooses its first source.
  void set(std::vector<std::string> sources);
  /// Chooses the next source, or the previous one if `by` is negative, and returns it. Returns nullopt if
  /// there is none.
  std::optional<std::string> step(int by);
  /// Chooses source `index` and returns it, or nullopt if there is no such source.
  std::optional<std::string> select(size_t index);

  /// Chooses source `index` of sources() and returns it. Returns nullopt if there is no such source. Discards
  /// a chosen list or source that does not play yet.
  std::optional<std::string> select_shown(size_t index);

  /// Chooses `source`. If the list has several sources but not this one, inserts it after the current source.
  /// If the list has fewer than two sources, playing() later replaces it. Discards a chosen list or source
  /// that does not play yet. Two paths of the same file are the same source, here and in playing().
  void insert(const std::string& source);

  /// Makes the chosen source the current one. Call when it plays.
  void opened() { playing_ = chosen_; }
  /// Makes `source` the current one. Replaces the list if it does not contain `source`. Call when it plays.
  void playing(const std::string& source);
  /// Chooses the current source again, and restores its list if set() has replaced it. Call when the chosen
  /// source does not play.
  void revert() { chosen_ = playing_; }

  /// Returns true if the chosen list, in which step() moves, has several sources. That list may not play yet.
  bool several() const { return chosen_.sources->size() > 1; }
  /// Returns the list of the source that plays. The list is immutable; set() creates a new one.
  std::shared_ptr<const std::vector<std::string>> sources() const { return playing_.sources; }
  /// Returns the index of the source that plays.
  size_t current() const { return playing_.index; }

 private:
  struct List {
    std::shared_ptr<const std::vector<std::string>> sources = std::make_shared<std::vector<std::string>>();
    size_t index = 0;
  };
  List playing_;
  List chosen_;  ///< the source that is being opened, or a copy of playing_
};

}  // namespace lensd
