#include "core/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  const char* hint =
      error == ENOSPC || error == EDQUOT ? "free some space" : "check the path and its permissions";
  throw Error(ExitCode::runtime_failure, path, fmt::format("{}: {}", what, std::strerror(error)), hint);
}

/// A descriptor that is closed, and a file that is removed, unless it was put in its place.
struct Temporary {
  std::string path;
  int fd = -1;
  bool placed = false;
  ~Temporary() {
    if (fd >= 0) close(fd);
    if (!placed && !path.empty()) unlink(path.c_str());
  }
};

/// Opens a file of a name that is free in `folder`, with the mode that the process gives to new files. Not
/// mkstemp(): its files are private, and the mask that says what they should have been cannot be read without
/// changing it for every thread.
int open_temporary(const std::string& folder, const std::string& name, std::string& path) {
  static std::atomic<unsigned> next{0};
  for (;;) {
    path = fmt::format("{}/.{}.{}-{}", folder, name, getpid(), next++);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

bool keep_mode(int fd, const std::string& target) {
  struct stat old = {};
  return stat(target.c_str(), &old) != 0 || fchmod(fd, old.st_mode & 07777) == 0;
}

void flush_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may not be read cannot be flushed; the file itself is on the disk
  fsync(fd);
  close(fd);
}

}  // namespace

bool write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

void write_whole_file(const std::string& path, std::string_view text, Flush flush, MissingFolders folders) {
  write_whole_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()), flush,
                   folders);
}

void write_whole_file(const std::string& path, std::span<const uint8_t> bytes, Flush flush,
                      MissingFolders folders) {
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  if (const fs::path real = fs::canonical(target, error); !error) target = real;
  if (fs::is_directory(target, error)) fail(path, "cannot be written", EISDIR);
  const std::string folder = target.parent_path().string();
  if (folders == MissingFolders::make && !fs::create_directories(folder, error) && error)
    fail(path, "its folder cannot be made", error.value());

  Temporary temporary;
  std::string name;
  temporary.fd = open_temporary(folder, target.filename().string(), name);
  if (temporary.fd < 0) fail(path, "cannot be written", errno);
  temporary.path = name;
  const bool ok = write_all(temporary.fd, bytes) && keep_mode(temporary.fd, target.string()) &&
                  (flush == Flush::none || fsync(temporary.fd) == 0) &&
                  rename(name.c_str(), target.c_str()) == 0;
  if (!ok) fail(path, "cannot be written", errno);
  temporary.placed = true;
  if (flush == Flush::to_disk) flush_folder(folder);
}

std::optional<std::string> read_whole_file(const std::string& path, size_t most_bytes) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  if (fs::is_directory(path, error)) fail(path, "cannot be read", EISDIR);
  if (fs::file_size(path, error) > most_bytes && !error)
    throw Error(ExitCode::runtime_failure, path, fmt::format("larger than {} bytes", most_bytes));
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be read", errno);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace lensd
