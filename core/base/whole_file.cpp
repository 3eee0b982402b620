#include "core/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/base/unique_fd.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr int kPipeTimeoutMs = 10'000;  // timeout for the next bytes of a pipe
/// Maximum number of bytes of a file's name that its temporary file's name contains. Names have at most 255
/// bytes.
constexpr size_t kMaxNamePart = 200;
constexpr int64_t kQuickNs = 500'000'000, kRetryNs = 20'000'000;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  const char* hint =
      error == ENOSPC || error == EDQUOT ? "free some space" : "check the path and its permissions";
  throw Error(ExitCode::runtime_failure, path, fmt::format("{}: {}", what, std::strerror(error)), hint);
}

/// Closes the descriptor, and removes the file unless it was renamed to its target.
struct Temporary {
  std::string path;
  int fd = -1;
  bool placed = false;
  ~Temporary() {
    if (fd >= 0) close(fd);
    if (!placed && !path.empty()) unlink(path.c_str());
  }
};

/// Returns the mode of the file that is to be replaced; nullopt if there is none.
std::optional<mode_t> mode_of(const std::string& target) {
  struct stat old = {};
  return stat(target.c_str(), &old) == 0 ? std::optional(old.st_mode & 07777) : std::nullopt;
}

/// rename_new() for file systems without links and RENAME_NOREPLACE. Creates an empty file, then replaces it
/// if it is still empty.
bool rename_over_own(int folder, const std::string& from, const std::string& to) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd own(openat(folder, to.c_str(), kFlags, 0600));
  if (!own) return false;
  struct stat made {
  }, found{};
  const bool still = fstat(own.get(), &made) == 0 && made.st_size == 0 &&
                     fstatat(folder, to.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
                     found.st_ino == made.st_ino && found.st_dev == made.st_dev;
  if (!still) {
    errno = EEXIST;
    return false;
  }
  if (renameat(folder, from.c_str(), folder, to.c_str()) == 0) return true;
  const int error = errno;
  unlinkat(folder, to.c_str(), 0);
  errno = error;
  return false;
}

/// Opens a pipe or device for writing. Waits for a pipe's reader until `end_ns`. Returns a descriptor, or
/// none with errno set.
UniqueFd open_special(const std::string& path, int64_t end_ns) {
  for (;;) {
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd || errno != ENXIO || now_ns() > end_ns) return fd;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kRetryNs));
  }
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// Writes to a pipe or device.
void write_special_file(const std::string& path, std::span<const uint8_t> bytes, PipeReader reader) {
  const int64_t end_ns = now_ns() + kQuickNs;
  const UniqueFd fd = open_special(path, end_ns);
  std::error_code ignored;
  if (!fd && errno == ENXIO && fs::is_fifo(path, ignored))
    throw Error(ExitCode::runtime_failure, path, "nobody reads this pipe");
  if (!fd) fail(path, "cannot be written", errno);
  const auto wait = [&] {
    const int64_t left_ms =
        reader == PipeReader::may_be_slow ? kPipeTimeoutMs : (end_ns - now_ns()) / 1'000'000;
    pollfd room{fd.get(), POLLOUT, 0};
    return left_ms > 0 && poll(&room, 1, static_cast<int>(left_ms)) != 0;
  };
  if (write_all(fd.get(), bytes, wait)) return;
  if (errno == EAGAIN) throw Error(ExitCode::runtime_failure, path, "the reader of this pipe is too slow");
  fail(path, "cannot be written", errno);
}

void flush_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // an unreadable folder cannot be flushed; the file's data is on the disk
  fsync(fd);
  close(fd);
}

}  // namespace

// Not mkstemp(): it creates files with mode 0600, and the umask cannot be read without changing it for all
// threads. The name may already exist: a killed process leaves its file, and process ids repeat in
// containers.
int create_temporary(int folder, const std::string& prefix, const std::string& name, std::string& path,
                     mode_t mode) {
  static std::atomic<unsigned> next{0};
  for (;;) {
    path = fmt::format("{}.{}.{}-{}", prefix, first_bytes(name, kMaxNamePart), getpid(), next++);
    const int fd = openat(folder, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

bool write_all(int fd, std::span<const uint8_t> bytes, const std::function<bool()>& wait) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno == EAGAIN && wait) {
      if (wait()) continue;
      errno = EAGAIN;
      return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool write_all(int fd, std::string_view text, const std::function<bool()>& wait) {
  return write_all(fd, bytes_of(text), wait);
}

bool is_special_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_other(path, ignored);
}

Error exists_error(const std::string& path) {
  return Error(ExitCode::usage, path, "a file of this name exists already", "choose another name");
}

std::unique_ptr<std::FILE, int (*)(std::FILE*)> open_output(const std::string& path, Existing existing) {
  const bool create = existing == Existing::keep && !is_special_file(path);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), create ? "wxe" : "we"),
                                                       std::fclose);
  if (!file && errno == EEXIST) throw exists_error(path);
  if (!file)
    throw Error(ExitCode::runtime_failure, path, fmt::format("cannot be written: {}", std::strerror(errno)));
  return file;
}

bool rename_new(int folder, const std::string& from, const std::string& to) {
  if (renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
  if (linkat(folder, from.c_str(), folder, to.c_str(), 0) == 0) return unlinkat(folder, from.c_str(), 0) == 0;
  return errno != EEXIST && rename_over_own(folder, from, to);
}

void write_whole_file(const std::string& path, std::string_view text, Flush flush, MissingFolders folders,
                      PipeReader reader, Existing existing) {
  write_whole_file(path, bytes_of(text), flush, folders, reader, existing);
}

void write_whole_file(const std::string& path, std::span<const uint8_t> bytes, Flush flush,
                      MissingFolders folders, PipeReader reader, Existing existing) {
  if (is_special_file(path)) return write_special_file(path, bytes, reader);
  const bool keep = existing == Existing::keep;
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  if (keep && fs::exists(fs::symlink_status(target, error))) throw exists_error(path);
  if (const fs::path real = fs::canonical(target, error); !error && !keep) target = real;
  if (fs::is_directory(target, error)) fail(path, "cannot be written", EISDIR);
  const std::string folder = target.parent_path().string();
  if (folders == MissingFolders::make && !fs::create_directories(folder, error) && error)
    fail(path, "cannot create its folder", error.value());

  const std::optional<mode_t> mode = keep ? std::nullopt : mode_of(target.string());
  Temporary temporary;
  std::string name;
  // Nobody else may open the file before it has the mode of the old one.
  temporary.fd =
      create_temporary(AT_FDCWD, folder + "/", target.filename().string(), name, mode ? 0600 : 0666);
  if (temporary.fd < 0) fail(path, "cannot be written", errno);
  temporary.path = name;
  const auto place = [&] {
    return keep ? rename_new(AT_FDCWD, name, target.string()) : rename(name.c_str(), target.c_str()) == 0;
  };
  const bool ok = write_all(temporary.fd, bytes) && (!mode || fchmod(temporary.fd, *mode) == 0) &&
                  (flush == Flush::none || fsync(temporary.fd) == 0) && place();
  if (!ok && keep && errno == EEXIST) throw exists_error(path);
  if (!ok) fail(path, "cannot be written", errno);
  temporary.placed = true;
  if (flush == Flush::to_disk) flush_folder(folder);
}

std::optional<std::string> read_whole_file(const std::string& path, size_t most_bytes, FileKind kind) {
  // Without O_NONBLOCK, opening a FIFO would wait for its writer.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) fail(path, "cannot be read", errno);
  if (S_ISDIR(info.st_mode)) fail(path, "cannot be read", EISDIR);
  const bool regular = S_ISREG(info.st_mode);
  if (!regular && kind == FileKind::regular)
    throw Error(ExitCode::runtime_failure, path, "is not a regular file");
  std::string text;
  for (;;) {
    pollfd waiting{fd.get(), POLLIN, 0};
    if (!regular && poll(&waiting, 1, kPipeTimeoutMs) == 0) fail(path, "cannot be read", ETIMEDOUT);
    std::array<char, 65536> chunk;
    const ssize_t size = read(fd.get(), chunk.data(), chunk.size());
    if (size < 0 && errno != EINTR && errno != EAGAIN) fail(path, "cannot be read", errno);
    if (size == 0) return text;
    if (size > 0) text.append(chunk.data(), static_cast<size_t>(size));
    if (text.size() > most_bytes)
      throw Error(ExitCode::runtime_failure, path, fmt::format("larger than {} bytes", most_bytes));
  }
}

}  // namespace lensd
