#include "tests/unit/common/simple_file_system.hpp"

#include <sys/syscall.h>
#include <sys/xattr.h>
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

extern "C" int fsetxattr(int fd, const char* name, const void* value, size_t size, int flags) noexcept {
  if (simple_file_system) {
    errno = ENOTSUP;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsetxattr, fd, name, value, size, flags));
}
