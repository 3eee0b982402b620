#include "core/media/output/files/file_identity.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace lensd {
namespace {

std::optional<FileState> state_of(int folder, const char* path, int flags) {
  struct statx s = {};
  if (statx(folder, path, flags, STATX_BASIC_STATS | STATX_BTIME, &s) != 0) return std::nullopt;
  const bool has_birth = (s.stx_mask & STATX_BTIME) != 0;
  return FileState{{makedev(s.stx_dev_major, s.stx_dev_minor), s.stx_ino,
                    has_birth ? s.stx_btime.tv_sec * 1'000'000'000 + s.stx_btime.tv_nsec : 0},
                   static_cast<int64_t>(s.stx_size),
                   S_ISREG(s.stx_mode),
                   s.stx_uid};
}

}  // namespace

std::optional<FileState> file_state(const std::string& path) {
  return state_of(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW);
}

std::optional<FileState> file_state(int folder, const std::string& name) {
  return state_of(folder, name.c_str(), AT_SYMLINK_NOFOLLOW);
}

std::optional<FileState> file_state(int fd) {
  return state_of(fd, "", AT_EMPTY_PATH);
}

bool names_file(const std::string& path, const FileIdentity& identity) {
  const auto state = file_state(path);
  return state && state->identity == identity;
}

bool is_file(const FileState& state, const FileIdentity& identity, std::optional<int64_t> bytes) {
  if (!state.regular || (bytes && state.bytes != *bytes)) return false;
  if (identity.birth_ns == 0) return state.identity == identity;
  return state.identity.birth_ns == identity.birth_ns;
}

bool has_changing_inodes(const std::string& folder) {
  struct statfs info = {};
  if (statfs(folder.c_str(), &info) != 0) return false;
  return info.f_type == MSDOS_SUPER_MAGIC || info.f_type == EXFAT_SUPER_MAGIC ||
         info.f_type == FUSE_SUPER_MAGIC;
}

}  // namespace lensd
