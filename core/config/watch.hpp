// Watches configuration files for changes. Detects all ways in which programs save files.
//
//   inotify on the folders of the files and of their link targets ──▶ changed()
//
// Programs truncate and write a file, rename a new file over the old one, replace a symbolic link (Kubernetes
// replaces the link of a parent folder), or delete and create the file. Each of these causes an event for a
// watched name in one of the folders. Events for other names are ignored. A change of permissions counts
// while a file cannot be read. Moving or deleting a folder on the path also counts. While a folder is
// missing, the files are read once a second. An event is a change only if the text of a file differs. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

struct inotify_event;

namespace lensd {

class ConfigWatch {
 public:
  /// Delay in nanoseconds from the last event to reading the files.
  static constexpr int64_t kRestNs = 100'000'000;
  /// Maximum delay from the first event to reading the files, if further events follow.
  static constexpr int64_t kMaxRestNs = 1'000'000'000;
  /// Interval between reads of the files while a folder is missing.
  static constexpr int64_t kMissingNs = 1'000'000'000;

  /// Reads the files; changed() compares later texts with these. Throws Error(runtime_failure) if inotify is
  /// not available.
  explicit ConfigWatch(std::vector<std::string> files);
  ~ConfigWatch();
  ConfigWatch(const ConfigWatch&) = delete;
  ConfigWatch& operator=(const ConfigWatch&) = delete;

  /// Returns the descriptor to poll: readable after an event in one of the folders.
  int fd() const { return fd_; }
  /// Reads the pending events. Call when fd() is readable. Does not block.
  void drain();
  /// Returns the milliseconds until changed() should be called; -1 if there was no event and no folder is
  /// missing.
  int wait_ms() const;
  /// Returns true once per change, kRestNs after the last event or kMaxRestNs after the first, if the text
  /// of a file differs. A missing file does not count as a change, because an editor may be replacing it.
  bool changed();

 private:
  struct Folder {
    std::string path;
    std::set<std::string> names;  ///< names of the watched files and links in this folder
  };

  void watch_folders();
  bool concerns(const inotify_event& event) const;
  int64_t due_ns() const;
  std::optional<std::vector<std::string>> texts() const;

  std::vector<std::string> files_, known_;
  std::map<int, Folder> watches_;  ///< by inotify watch descriptor
  int fd_ = -1;
  bool unread_ = false;                    ///< the last reading failed
  bool missing_ = false;                   ///< a folder with watched names cannot be watched
  int64_t read_ns_ = 0;                    ///< time of the last read
  int64_t first_ns_ = 0, touched_ns_ = 0;  ///< times of the first and the last event after it; 0: none
};

}  // namespace lensd
