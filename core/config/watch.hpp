// Watching configuration files, whichever way an editor saves them.
//
//   inotify on the folders of the files and of what their links point to ──▶ changed()
//
// Truncate and write, rename over, swapped links (also of a folder on the way, as Kubernetes does it), delete
// and create: all end in an event in one of the folders. What counts is the files' text: an event that left
// it alone is no change. Belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lensd {

class ConfigWatch {
 public:
  /// How long files must be at rest before they are read.
  static constexpr int64_t kRestNs = 100'000'000;

  /// Takes the files' text as it is now for known. Throws Error(runtime_failure) where inotify is not to be
  /// had.
  explicit ConfigWatch(std::vector<std::string> files);
  ~ConfigWatch();
  ConfigWatch(const ConfigWatch&) = delete;
  ConfigWatch& operator=(const ConfigWatch&) = delete;

  /// For poll(): readable when something happened in one of the folders.
  int fd() const { return fd_; }
  /// Takes what happened off the descriptor. Call when it is readable.
  void drain();
  /// Milliseconds until changed() is worth asking; -1: nothing has happened.
  int wait_ms() const;
  /// True, once, when the files have come to rest and their text is another one than before. A file that is
  /// gone changes nothing: it may be on its way back.
  bool changed();

 private:
  void watch_folders();
  std::optional<std::vector<std::string>> texts() const;

  std::vector<std::string> files_, known_;
  std::map<int, std::string> watches_;  ///< and their folders
  int fd_ = -1;
  int64_t touched_ns_ = 0;  // 0: nothing has happened since the last look
};

}  // namespace lensd
