#include "tests/unit/common/simple_file_system.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

using lensd::test::simple_file_system;

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (simple_file_system && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

extern "C" int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (simple_file_system) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
