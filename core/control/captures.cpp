#include "core/control/captures.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Error cannot_write(const std::string& path) {
  return Error(ExitCode::runtime_failure, path, fmt::format("cannot be written: {}", std::strerror(errno)),
               "check [control] folder and its permissions");
}

std::string default_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string folder = variable("STATE_DIRECTORY"); !folder.empty())
    return folder.substr(0, folder.find(':'));
  if (const std::string folder = variable("XDG_STATE_HOME"); !folder.empty()) return folder + "/lensd";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/state/lensd";
  return fmt::format("/tmp/lensd-{}/captures", geteuid());
}

/// The folder of `relative`, opened beneath `folder`, and the file's name in it.
std::pair<Descriptor, std::string> open_parent(const std::string& folder, const std::string& relative) {
  const fs::path path(relative);
  const std::string name = path.filename().string();
  if (name.empty() || name == "." || name == ".." || path.is_absolute() ||
      relative.find('\0') != std::string::npos)
    throw Error(ExitCode::usage, relative, "is not the path of a file below " + folder,
                "give a relative path, without ..");
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const Descriptor root(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) throw cannot_write(folder);
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  Descriptor fd(static_cast<int>(syscall(SYS_openat2, root.get(), parent.c_str(), &how, sizeof how)));
  if (fd.get() < 0 && (errno == EXDEV || errno == ELOOP))
    throw Error(ExitCode::usage, relative, "leads out of " + folder, "give a path below it, without links");
  if (fd.get() < 0) throw cannot_write((fs::path(folder) / parent).string());
  return {std::move(fd), name};
}

}  // namespace

Captures::Captures(std::string folder) : folder_(folder.empty() ? default_folder() : std::move(folder)) {}

std::string Captures::write(const std::string& relative, std::span<const uint8_t> bytes) const {
  const auto [parent, name] = open_parent(folder_, relative);
  const std::string full = (fs::path(folder_) / relative).string();
  const std::string temporary = fmt::format(".{}.{}-{}", name, getpid(), gettid());
  const Descriptor fd(
      openat(parent.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (fd.get() < 0) throw cannot_write(full);
  const bool ok = write_all(fd.get(), bytes) && fsync(fd.get()) == 0 &&
                  renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str()) == 0;
  if (!ok) {
    const Error error = cannot_write(full);
    unlinkat(parent.get(), temporary.c_str(), 0);
    throw error;
  }
  fsync(parent.get());
  return full;
}

std::string Captures::checked(const std::string& relative) const {
  const auto [parent, name] = open_parent(folder_, relative);
  struct stat info {};
  if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
    throw Error(ExitCode::usage, relative, "is there already and is no plain file", "choose another name");
  return (fs::path(folder_) / relative).string();
}

std::string Captures::file_name(int64_t frame, const std::string& ending) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("lensd-{:%Y%m%d-%H%M%S}-{}{}", local, frame, ending);
}

}  // namespace lensd
