#include "app/serve/output_folder.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/file_mark.hpp"
#include "core/base/folders.hpp"
#include "core/base/text/text.hpp"
#include "core/base/unique_fd.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Maximum number of remembered files on file systems without extended attributes. Later files cannot be
/// replaced.
constexpr size_t kMaxKnown = 4096;

/// Largest number in the name of a new file.
constexpr int kMaxNumber = 1000;

Error cannot_write(const std::string& path) {
  return Error(ExitCode::runtime_failure, path, fmt::format("cannot be written: {}", std::strerror(errno)),
               "check the folder and its permissions");
}

}  // namespace

OutputFolder::OutputFolder(std::string folder)
    : private_(folder.empty() && run_state_folder().empty() ? private_tmp_folder() : ""),
      folder_(!private_.empty() ? private_ + "/captures"
              : folder.empty()  ? run_state_folder()
                                : std::move(folder)) {}

void OutputFolder::create() const {
  std::error_code ignored;  // the next write reports an error
  if (private_.empty()) {
    if (!created_) fs::create_directories(folder_, ignored), created_ = !ignored;
    return;
  }
  if (!make_private_folder(private_)) {
    const int error = errno;
    if (error == EPERM)
      throw Error(ExitCode::runtime_failure, private_, "is not a folder that only this user can write to",
                  "remove it, or set HOME or [control] folder");
    throw Error(ExitCode::runtime_failure, private_, std::strerror(error), "set HOME or [control] folder");
  }
  fs::create_directories(folder_, ignored);
}

/// Opens the folder that contains `relative`. Returns its descriptor and the file's name.
std::pair<UniqueFd, std::string> OutputFolder::open_parent(const std::string& relative) const {
  const fs::path path(relative);
  const std::string name = path.filename().string();
  if (name.empty() || name == "." || name == ".." || path.is_absolute() ||
      relative.find('\0') != std::string::npos)
    throw Error(ExitCode::usage, relative, "is not the path of a file below " + folder_,
                "use a relative path without ..");
  if (has_control_character(relative))  // a line break would split lines of logs and lists
    throw Error(ExitCode::usage, "the path", "has a control character", "choose another name");
  if (name.front() == '.')  // reserved for journals and temporary files
    throw Error(ExitCode::usage, relative, "is the name of a hidden file", "choose another name");
  create();
  const UniqueFd root(open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw cannot_write(folder_);
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, root.get(), parent.c_str(), &how, sizeof how)));
  if (!fd && (errno == EXDEV || errno == ELOOP))
    throw Error(ExitCode::usage, relative, "leads out of " + folder_, "use a path below it, without links");
  if (!fd) throw cannot_write((fs::path(folder_) / parent).string());
  return {std::move(fd), name};
}

/// Returns true if write() has created the file `name` with the kind `kind`.
bool OutputFolder::is_ours(int folder, const std::string& name, const std::string& kind) const {
  const UniqueFd fd(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) return false;
  if (const std::string mark = file_mark(fd.get()); !mark.empty()) return mark == kind;
  const std::lock_guard lock(mutex_);
  const auto it = written_.find({info.st_dev, info.st_ino});
  return it != written_.end() && it->second == kind;
}

/// Call before lensd deletes or replaces the file `name`: another program's file may get its inode.
void OutputFolder::forget(int folder, const std::string& name) const {
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  const std::lock_guard lock(mutex_);
  written_.erase({info.st_dev, info.st_ino});
}

/// Renames the file `temporary` to `name`. Replaces an existing file only if is_ours() returns true for it,
/// and none with Existing::keep. On failure returns false and sets errno, to EEXIST if an existing file may
/// not be replaced.
bool OutputFolder::place(int folder, const std::string& temporary, const std::string& name,
                         const std::string& kind, Existing existing) const {
  const auto rename_as = [&](unsigned flags) {
    return renameat2(folder, temporary.c_str(), folder, name.c_str(), flags) == 0;
  };
  if (rename_new(folder, temporary, name)) return true;
  if (errno != EEXIST || existing == Existing::keep) return false;
  // Check again after the exchange, because another program may have replaced the file after the first check.
  if (is_ours(folder, name, kind)) {
    if (rename_as(RENAME_EXCHANGE)) {
      if (is_ours(folder, temporary, kind)) {
        forget(folder, temporary);
        return unlinkat(folder, temporary.c_str(), 0) == 0;
      }
      rename_as(RENAME_EXCHANGE);
    } else if (errno == EINVAL) {  // the file system does not support the flag
      forget(folder, name);
      return rename_as(0);
    }
  }
  errno = EEXIST;
  return false;
}

std::string OutputFolder::write(const std::string& relative, std::string_view bytes, const std::string& kind,
                                Existing existing) const {
  const auto [parent, name] = open_parent(relative);
  const std::string full = (fs::path(folder_) / relative).string();
  std::string temporary;
  const UniqueFd fd(create_temporary(parent.get(), "", name, temporary));
  if (!fd) throw cannot_write(full);
  struct stat info {};
  if (fstat(fd.get(), &info) == 0) {
    const bool marked = mark_file(fd.get(), kind);
    const std::lock_guard lock(mutex_);
    written_.erase({info.st_dev, info.st_ino});
    if (!marked && written_.size() < kMaxKnown) written_[{info.st_dev, info.st_ino}] = kind;
  }
  const bool ok = write_all(fd.get(), bytes) && fsync(fd.get()) == 0 &&
                  place(parent.get(), temporary, name, kind, existing);
  if (!ok) {
    const Error error = errno == EEXIST ? exists_error(relative) : cannot_write(full);
    forget(parent.get(), temporary);
    unlinkat(parent.get(), temporary.c_str(), 0);
    throw error;
  }
  fsync(parent.get());
  return full;
}

std::string OutputFolder::write_new(int64_t frame, const std::string& ending, std::string_view bytes,
                                    const std::string& kind) const {
  const UniqueFd folder = open_parent(file_name(frame, ending)).first;
  for (int n = 1; n <= kMaxNumber; ++n) {
    const std::string name = file_name(frame, n == 1 ? ending : fmt::format("-{}{}", n, ending));
    struct stat info {};
    if (fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) continue;
    try {
      return write(name, bytes, kind, Existing::keep);
    } catch (const Error& e) {
      if (e.code() != ExitCode::usage) throw;  // exists_error() has this code
    }
  }
  throw Error(ExitCode::runtime_failure, folder_,
              fmt::format("already has {} files of this second and frame", kMaxNumber),
              "try again, or give a name");
}

std::string OutputFolder::check(const std::string& relative) const {
  const auto [parent, name] = open_parent(relative);
  struct stat info {};
  if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) throw exists_error(relative);
  return (fs::path(folder_) / relative).string();
}

std::string OutputFolder::file_name(int64_t frame, const std::string& ending) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("lensd-{:%Y%m%d-%H%M%S}-{}{}", local, frame, ending);
}

}  // namespace lensd
