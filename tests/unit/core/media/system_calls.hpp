// Simulated behaviour of file systems for the recording tests. The test program's own definitions of write(),
// fdatasync() and statx() replace the C library's.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lensd::test {

/// Simulates a disk of `bytes` bytes for the files of `folder`, which another process or thread must not
/// write, until it is destroyed.
class SmallDisk {
 public:
  SmallDisk(std::string folder, int64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
};

/// Simulates a slow disk until it is destroyed: each fdatasync() takes `sync` longer, and the next write() to
/// a file below `folder` takes `write` longer.
class SlowDisk {
 public:
  explicit SlowDisk(std::string folder, std::chrono::milliseconds sync, std::chrono::milliseconds write = {});
  ~SlowDisk();
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;
};

/// Makes the next fdatasync() fail with EIO after `delay`, unless the object is destroyed before. The sync
/// does not take as long as a SlowDisk's.
class FailingSync {
 public:
  explicit FailingSync(std::chrono::milliseconds delay);
  ~FailingSync();
  FailingSync(const FailingSync&) = delete;
  FailingSync& operator=(const FailingSync&) = delete;
};

/// Simulates a file system that assigns inode numbers when a file enters the cache, such as exFAT: until it
/// is destroyed, each statx() of a file below `folder` that is not open returns another inode number.
class ChangingInodes {
 public:
  /// `birth_times`: whether files have a birth time, as on exFAT, or none, as on sshfs.
  explicit ChangingInodes(std::string folder, bool birth_times = true);
  ~ChangingInodes();
  ChangingInodes(const ChangingInodes&) = delete;
  ChangingInodes& operator=(const ChangingInodes&) = delete;
};

/// Returns the number of statx() calls of this program so far.
int64_t statx_calls();

}  // namespace lensd::test
