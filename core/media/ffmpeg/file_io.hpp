// FFmpeg reading through our own file descriptor: clear errors at opening, waiting that can be interrupted
// (pipes, FIFOs), and no protocol by which a file's content could have another file opened.
#pragma once

#include <atomic>
#include <string>

#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

/// Flags that stop a wait; both may be set by any thread.
struct StopFlags {
  std::atomic<bool> interrupted{false};          ///< set by Source::interrupt(), cleared by next()
  const std::atomic<bool>* cancelled = nullptr;  ///< given by the caller of open_source, may be null

  bool raised() const noexcept {
    return interrupted.load(std::memory_order_relaxed) ||
           (cancelled && cancelled->load(std::memory_order_relaxed));
  }
};

class FileIo {
 public:
  /// Opens `path`, or standard input for "-". Throws Error(bad_source): missing, a directory, empty, not
  /// readable. `stop` must outlive this object.
  FileIo(const std::string& path, const StopFlags& stop);
  ~FileIo();
  FileIo(const FileIo&) = delete;
  FileIo& operator=(const FileIo&) = delete;

  AVIOContext* context() const noexcept { return context_; }
  /// A regular file, where reads never wait and any position can be reached.
  bool regular() const noexcept { return regular_; }

 private:
  static int read(void* self, uint8_t* buffer, int size) noexcept;
  static int64_t seek(void* self, int64_t offset, int whence) noexcept;
  bool wait_readable() const noexcept;

  int fd_ = -1;
  bool regular_ = false, owns_fd_ = true;
  const StopFlags& stop_;
  AVIOContext* context_ = nullptr;
};

}  // namespace lensd
