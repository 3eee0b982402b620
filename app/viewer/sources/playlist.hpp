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

/// Replaces each folder by its image sequences, videos and images, in the order of the open dialog. Throws
/// Error(bad_source) if a folder cannot be read or contains none. May block on the disk.
std::vector<std::string> expand_sources(const std::vector<std::string>& sources);

class Playlist {
 public:
  /// Replaces the list. The first source is the current one.
  void set(std::vector<std::string> sources);
  /// Makes a source the current one. Replaces the list if it does not contain the source.
  void playing(const std::string& source);

  /// Moves to the next source, or the previous one if `by` is negative, and returns it. Returns nullopt if
  /// there is none.
  std::optional<std::string> step(int by);
  /// Moves to source `index` and returns it, or nullopt if there is no such source.
  std::optional<std::string> select(size_t index);

  /// Returns the list. It is immutable; set() creates a new one.
  std::shared_ptr<const std::vector<std::string>> sources() const { return sources_; }
  size_t current() const { return current_; }

 private:
  std::shared_ptr<const std::vector<std::string>> sources_ = std::make_shared<std::vector<std::string>>();
  size_t current_ = 0;
};

}  // namespace lensd
