// Finds sources for the source dialog: files of a folder, recent sources, cameras, the screen.
//
//   search() ──▶ own thread: disk, devices ──▶ choices() on the UI thread
//
// Disk and devices may be slow, so a thread reads them, every two seconds while the dialog is open. The
// destructor waits at most 200 ms for the thread, which may hang in a disk access
// (core/base/owned_thread.hpp).
//
// Call from the UI thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/owned_thread.hpp"
#include "ui/model/source_choices.hpp"

namespace lensd {

class SourceFinder {
 public:
  /// `wake` is called on the finder's thread when choices() has changed.
  explicit SourceFinder(std::function<void()> wake);
  ~SourceFinder();

  /// Sets the folder to list, a part of the names to list (empty: all names), and the recent sources to
  /// check. An empty folder stops the search. Call in every display frame.
  void search(const std::string& folder, const std::string& part, const std::vector<std::string>& recent);
  /// Returns the newest result; never null.
  std::shared_ptr<const ui::SourceChoices> choices() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // shared with the thread
  OwnedThread thread_;
  std::string folder_, part_;
  std::vector<std::string> recent_;
};

/// Returns why a recent source cannot be opened now, or an empty string if no reason is known. May block on
/// the disk.
std::string source_obstacle(const std::string& url);

}  // namespace lensd
