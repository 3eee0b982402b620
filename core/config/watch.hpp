// Watches configuration files for changes, however programs save them.
//
//   inotify on the folders of the files and of their link targets ──▶ changed()
//
// Programs truncate and write a file, rename a new file over the old one, replace a symbolic link
// (Kubernetes: the link of a parent folder), or delete and create the file. Each way ends with an event in
// one of the folders. An event is a change only if the text of a file differs. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lensd {

class ConfigWatch {
 public:
  /// Delay in nanoseconds from the last event to reading the files.
  static constexpr int64_t kRestNs = 100'000'000;

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
  /// Returns the milliseconds until changed() should be called; -1 if there was no event.
  int wait_ms() const;
  /// Returns true once per change, kRestNs after the last event, if the text of a file differs. A missing
  /// file is no change, because an editor may be replacing it.
  bool changed();

 private:
  void watch_folders();
  std::optional<std::vector<std::string>> texts() const;

  std::vector<std::string> files_, known_;
  std::map<int, std::string> watches_;  ///< folder of each inotify watch descriptor
  int fd_ = -1;
  int64_t touched_ns_ = 0;  // time of the last event; 0: no event since changed()
};

}  // namespace lensd
