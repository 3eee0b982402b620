// A file that a muxer writes through lensd's descriptor. It replaces another file only if allowed, and never
// a file that another recording writes or this process reads. Paths from control requests cannot leave
// FileRules::beneath. The file can be truncated to its last complete part. Internal to core/media. Not
// thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/output/files/file_identity.hpp"
#include "core/media/recording.hpp"

namespace lensd {

/// Returns the error for a file that cannot be created or written. `error`: an errno value.
Error write_error(const std::string& path, int error);

class OutputFile {
 public:
  /// Creates the file and locks it until close(). Throws Error(usage) if the file exists and must not be
  /// replaced, Error(runtime_failure) if it cannot be created. Keeps the pointer FileRules::stop.
  OutputFile(const std::string& path, const FileRules& rules);
  /// Discards buffered data if close() was not called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* context() const noexcept { return context_.get(); }
  /// Returns the full path, with the folder FileRules::beneath if there is one.
  const std::string& path() const noexcept { return path_; }
  /// Returns the number of bytes up to the furthest position written.
  int64_t bytes() const noexcept { return end_; }
  /// Writes FFmpeg's buffer. Returns 0 or the file's first AVERROR.
  int flush() noexcept;
  /// Truncates the file to `bytes` and discards FFmpeg's buffer and all later writes.
  void cut(int64_t bytes) noexcept;
  /// Forgets the pointers of FileRules, so that they need not outlive the object. Nothing may be written
  /// after this call.
  void forget_rules() noexcept { stop_ = nullptr, make_room_ = nullptr; }
  /// Flushes, syncs to the disk and closes. May take seconds. Returns 0 or an AVERROR.
  int close() noexcept;

  const FileIdentity& identity() const noexcept { return identity_; }
  /// Returns true if the file was deleted. Data written to it is lost when it is closed.
  bool deleted() const noexcept;
  /// Returns false if the file existed before.
  bool created() const noexcept { return created_; }

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  void open_file(const std::string& path, const FileRules& rules, bool create);
  void take(bool overwrite);
  bool found_room(int error) noexcept;
  void start_writeback() noexcept;
  int wait_for_reader() const noexcept;
  static int write(void* self, ff::WriteByte* buffer, int size) noexcept;
  static int64_t seek(void* self, int64_t offset, int whence) noexcept;

  std::string path_;
  int fd_ = -1;
  bool regular_ = false, discarding_ = false, created_ = false;
  bool counts_names_ = false;      ///< the file system counts a file's links; some FUSE file systems report 0
  int64_t reader_timeout_ns_ = 0;  ///< FileRules::reader_timeout_ns
  const std::atomic<bool>* stop_ = nullptr;
  std::function<bool()> make_room_;  ///< FileRules::make_room
  int rooms_ = 0;                    ///< calls of make_room_ since the last byte was written
  int64_t at_ = 0, end_ = 0;
  int64_t writeback_ = 0;  ///< end of the data that the kernel was asked to write to the disk
  FileIdentity identity_;
  ff::IoPtr context_;
};

}  // namespace lensd
