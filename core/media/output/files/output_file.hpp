// A file that a muxer writes, through our own descriptor: made exclusively where it must not replace
// another, held below a folder where the name comes from outside, cut back to its last whole part when the
// disk is full. Internal to core/media. Belongs to one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/media/ffmpeg/ffmpeg_check.hpp"
#include "core/media/recording.hpp"

namespace lensd {

class OutputFile {
 public:
  /// Makes the file. Throws Error(runtime_failure) with the reason; code() of the error is `usage` when a
  /// file of that name is there and must not be replaced.
  OutputFile(const std::string& path, const FileRules& rules);
  /// Closes what is still open, without another word.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* context() const noexcept { return context_; }
  /// Bytes from the start to the furthest position written.
  int64_t bytes() const noexcept { return end_; }
  /// Hands FFmpeg's buffer to the system. Returns 0 or the first AVERROR of the file.
  int flush() noexcept;
  /// Throws away what is in FFmpeg's buffer and everything behind `bytes`.
  void cut(int64_t bytes) noexcept;
  /// Flushes, brings the file to the disk and closes it. Returns 0 or an AVERROR.
  int close() noexcept;

  /// True while `path` names the file that was written here, not another one put in its place.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool names(const std::string& path) const noexcept;
  };
  Identity identity() const noexcept { return identity_; }

 private:
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  using Written = const uint8_t;
#else
  using Written = uint8_t;  // FFmpeg's callback had no const before version 7
#endif
  static int write(void* self, Written* buffer, int size) noexcept;
  static int64_t seek(void* self, int64_t offset, int whence) noexcept;

  int fd_ = -1;
  bool regular_ = false, discarding_ = false;
  int64_t at_ = 0, end_ = 0;
  Identity identity_;
  AVIOContext* context_ = nullptr;
};

}  // namespace lensd
