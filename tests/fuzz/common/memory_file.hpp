// A file in memory with a path, for functions that open files.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/base/whole_file.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const uint8_t> bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(fd_ && write_all(fd_.get(), bytes), "no memory file");
    path_ = "/proc/self/fd/" + std::to_string(fd_.get());
  }
  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

}  // namespace lensd::fuzz
