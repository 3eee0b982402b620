#include "core/media/output/files/folders.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

UniqueFd open_beneath(int root, const std::string& path, int flags) {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? 0666 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

}  // namespace

UniqueFd open_path(const std::string& beneath, const std::string& path, int flags) {
  if (beneath.empty()) return UniqueFd(open(path.c_str(), flags, 0666));
  const UniqueFd root(open(beneath.c_str(), kFolder));
  if (!root) return UniqueFd();
  UniqueFd fd = open_beneath(root.get(), path, flags);
  const int error = errno;  // closing `root` may change it
  if (!fd) errno = error;
  return fd;
}

int make_folders(const std::string& beneath, const std::string& base, const std::string& path) {
  UniqueFd folder = open_path(beneath, base, kFolder);
  if (!folder) return errno;
  for (const fs::path& name : fs::path(path_below(base, path)).parent_path()) {
    if (name == "..") return EXDEV;
    if (mkdirat(folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST) return errno;
    UniqueFd next = beneath.empty() ? UniqueFd(openat(folder.get(), name.c_str(), kFolder))
                                    : open_beneath(folder.get(), name.string(), kFolder);
    if (!next) return errno;
    folder = std::move(next);
  }
  return 0;
}

UniqueFd open_folder_of(const std::string& base, const std::string& path) {
  const std::string below = path_below(base, path);
  UniqueFd folder(open(base.c_str(), kFolder));
  if (below.empty()) {
    folder = UniqueFd();
    errno = EXDEV;
  }
  for (const fs::path& name : fs::path(below).parent_path()) {
    if (!folder) break;
    UniqueFd next(openat(folder.get(), name.c_str(), kFolder | O_NOFOLLOW));
    const int error = errno;
    folder = std::move(next);
    errno = error;  // closing a descriptor may change it
  }
  return folder;
}

std::string linked_folder(const std::string& base, const std::string& path) {
  fs::path folder(base);
  for (const fs::path& name : fs::path(path_below(base, path)).parent_path()) {
    folder /= name;
    std::error_code ignored;
    if (fs::is_symlink(folder, ignored)) return folder.string();
  }
  return {};
}

void remove_empty_folders(const std::string& base, const std::string& path) {
  for (fs::path rest = fs::path(path_below(base, path)).parent_path(); !rest.empty();
       rest = rest.parent_path()) {
    const UniqueFd folder = open_folder_of(base, (fs::path(base) / rest).string());
    if (!folder || unlinkat(folder.get(), rest.filename().c_str(), AT_REMOVEDIR) != 0) return;
  }
}

std::string path_below(const std::string& folder, const std::string& path) {
  const std::string rest = fs::path(path).lexically_relative(folder).string();
  return rest == "." || rest == ".." || rest.starts_with("../") ? std::string() : rest;
}

}  // namespace lensd
