// Simulated behaviour of file systems for the recording tests. The test program's own definitions of write(),
// fdatasync() and statx() replace the C library's.
#pragma once

#include <atomic>
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

}  // namespace lensd::test
