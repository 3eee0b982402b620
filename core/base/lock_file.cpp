#include "core/base/lock_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace lensd {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Earlier versions made lock files that everybody may read. If this user owns such a file, removes the
/// access of other users, and the access of the group if the group cannot write. Keeps modes without access
/// for others, such as 0660, which the user has set.
void close_lock_to_others(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0 || file.st_uid != geteuid() || (file.st_mode & S_IRWXO) == 0) return;
  const mode_t group = (file.st_mode & S_IWGRP) != 0 ? file.st_mode & S_IRWXG : 0;
  [[maybe_unused]] const int ignored = fchmod(fd, (file.st_mode & S_IRWXU) | group);
}

}  // namespace

UniqueFd open_lock_file(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd fd(open(path.c_str(), kFlags, 0600));
  if (!fd) return fd;
  if (!is_trusted_lock(fd.get(), path)) {
    fd = UniqueFd();
    errno = EPERM;
    return fd;
  }
  close_lock_to_others(fd.get());
  return fd;
}

bool is_trusted_owner(const struct stat& file, const std::string& path) {
  struct stat folder = {};
  return file.st_uid == geteuid() || file.st_uid == 0 ||
         (stat(folder_of(path).c_str(), &folder) == 0 && file.st_uid == folder.st_uid);
}

bool is_trusted_lock(int fd, const std::string& path) {
  struct stat file = {}, folder = {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return false;
  if (is_trusted_owner(file, path)) return true;
  return stat(folder_of(path).c_str(), &folder) == 0 && file.st_gid == folder.st_gid &&
         (folder.st_mode & S_IWGRP) != 0 && ((file.st_mode | folder.st_mode) & S_IWOTH) == 0 &&
         (file.st_mode & S_IRWXO) == 0;
}

}  // namespace lensd
