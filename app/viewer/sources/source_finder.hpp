// What can be opened, for the source dialog: a folder's files, recent sources, cameras, the screen.
//
//   want() ──▶ finder's thread: disk, devices ──▶ choices() on the UI thread
//
// Disk and devices may take their time, so they are asked aside, again every two seconds while the dialog is
// open. A thread that hangs in the disk is left alone at the end.
//
// Members are the UI thread's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ui/model/source_choices.hpp"

namespace lensd {

class SourceFinder {
 public:
  /// `wake`: choices() are new; called by the finder's thread.
  explicit SourceFinder(std::function<void()> wake);
  ~SourceFinder();

  /// In every display frame while the dialog is open. An empty folder ends the looking.
  void want(const std::string& folder, const std::vector<std::string>& recent);
  /// Never null; the newest that was found.
  std::shared_ptr<const ui::SourceChoices> choices() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // the thread owns it as well
  std::string folder_;
  std::vector<std::string> recent_;
};

/// Why a source that was played before cannot be opened now; empty where nothing is known against it. Reads
/// the disk.
std::string source_obstacle(const std::string& url);

}  // namespace lensd
