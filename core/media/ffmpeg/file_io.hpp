// Lets FFmpeg read through lensd's file descriptor. Open errors have clear messages, and reads of pipes and
// FIFOs can be interrupted. FFmpeg needs no protocols, so Input disables them: a file's content cannot make
// FFmpeg open another file.
#pragma once

#include <string>

#include "core/media/ffmpeg/interrupt.hpp"

namespace lensd {

class FileIo {
 public:
  /// Opens `path`, or standard input for "-". Throws Error(bad_source) if it is missing, a directory, empty
  /// or not readable. `stop` must outlive this object.
  FileIo(const std::string& path, const StopFlags& stop);
  ~FileIo();
  FileIo(const FileIo&) = delete;
  FileIo& operator=(const FileIo&) = delete;

  AVIOContext* context() const noexcept { return context_.get(); }
  /// Returns true for a regular file: reads do not block and every position can be read.
  bool regular() const noexcept { return regular_; }

 private:
  explicit FileIo(const StopFlags& stop) : stop_(stop) {}
  static int read(void* self, uint8_t* buffer, int size) noexcept;
  static int64_t seek(void* self, int64_t offset, int whence) noexcept;
  bool wait_readable() const noexcept;

  int fd_ = -1;
  bool regular_ = false, owns_fd_ = true;
  /// Position of the next read in a regular file. The descriptor's own position is not used, because a second
  /// object may read the same standard input.
  int64_t at_ = 0;
  const StopFlags& stop_;
  ff::IoPtr context_;
};

}  // namespace lensd
