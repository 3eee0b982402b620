#include "core/base/file_mark.hpp"

#include <sys/types.h>
#include <sys/xattr.h>

namespace lensd {
namespace {

constexpr const char* kAttribute = "user.lensd";

}  // namespace

bool mark_file(int fd, std::string_view kind) {
  return fsetxattr(fd, kAttribute, kind.data(), kind.size(), 0) == 0;
}

std::string file_mark(int fd) {
  char value[16] = {};
  const ssize_t size = fgetxattr(fd, kAttribute, value, sizeof value);
  return size > 0 ? std::string(value, static_cast<size_t>(size)) : std::string();
}

}  // namespace lensd
