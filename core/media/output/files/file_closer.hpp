// Syncs and closes complete files on its own thread, because a sync can take seconds.
//
//   close() ── complete VideoFile ──▶ thread: fdatasync(), close() ──▶ take_closed()
//
// All bytes of a file are written before close(), so that a crash of the process loses none of them. The
// thread starts with the first file. If it is still busy when the object is destroyed, it continues in the
// background (core/base/owned_thread.hpp) and logs errors of its files. Internal to core/media. Call from one
// thread only.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/owned_thread.hpp"
#include "core/media/output/files/video_file.hpp"

namespace lensd {

class FileCloser {
 public:
  FileCloser();
  /// Does not wait for the files.
  ~FileCloser();
  FileCloser(const FileCloser&) = delete;
  FileCloser& operator=(const FileCloser&) = delete;

  /// Takes a file after VideoFile::complete(). Waits while two other files are being closed, unless `stop`,
  /// which may be null, is set. Closes the file itself if no thread can be started.
  void close(std::unique_ptr<VideoFile> file, const std::atomic<bool>* stop);

  struct Closed {
    std::string path;
    int error = 0;  ///< 0 or an AVERROR
  };
  /// Returns the next file that was closed since the last call, in the order of close(). Does not block.
  std::optional<Closed> take_closed();
  /// Waits until all files are closed. Returns false after `timeout`.
  bool wait(std::chrono::nanoseconds timeout);

 private:
  struct Work;
  const std::shared_ptr<Work> work_;
  OwnedThread thread_;
};

}  // namespace lensd
