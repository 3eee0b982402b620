// The lock of an HLS playlist: only one output at a time, of any process, writes it. Internal to core/media.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

/// The lock of one output, shared by its successive senders, so that no other output takes the playlist
/// between two of them. Locks the file .NAME.m3u8.lock beside the playlist and never deletes it. Thread-safe.
class PlaylistLock {
 public:
  /// A sender's share of the lock. After release(), the lock is released with the last share.
  using Share = std::shared_ptr<const UniqueFd>;

  /// Sets `share` if it is empty. Returns an empty text, or why the playlist cannot be written now. May block
  /// on the file system. Takes no lock if the file system does not support locks.
  std::string take(const std::string& playlist, Share& share);
  /// Releases the lock once its senders have ended.
  void release();

 private:
  std::mutex mutex_;
  Share kept_;             ///< for the next sender
  bool released_ = false;  ///< a sender that takes the lock later keeps it for itself
};

}  // namespace lensd
