// A file written by a muxer through our own descriptor. It never replaces another file unless allowed, stays
// below a folder if its name comes from outside, and can be cut back to its last complete part. Internal to
// core/media; belongs to one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/recording.hpp"

namespace lensd {

class OutputFile {
 public:
  /// Creates the file. Throws Error(usage) if the file exists and must not be replaced, else
  /// Error(runtime_failure).
  OutputFile(const std::string& path, const FileRules& rules);
  /// Discards what close() did not write.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* context() const noexcept { return context_.get(); }
  /// With the folder of the rules.
  const std::string& path() const noexcept { return path_; }
  /// Up to the furthest position written.
  int64_t bytes() const noexcept { return end_; }
  /// Writes FFmpeg's buffer. Returns 0 or the file's first AVERROR.
  int flush() noexcept;
  /// Truncates the file to `bytes` and discards FFmpeg's buffer and all later writes.
  void cut(int64_t bytes) noexcept;
  /// Flushes, syncs to the disk and closes. Returns 0 or an AVERROR.
  int close() noexcept;

  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    /// True if `path` is still this file and not another one with the same name.
    bool names(const std::string& path) const noexcept;
  };
  Identity identity() const noexcept { return identity_; }

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  static int write(void* self, ff::WriteByte* buffer, int size) noexcept;
  static int64_t seek(void* self, int64_t offset, int whence) noexcept;

  std::string path_;
  int fd_ = -1;
  bool regular_ = false, discarding_ = false;
  int64_t at_ = 0, end_ = 0;
  Identity identity_;
  ff::IoPtr context_;
};

}  // namespace lensd
