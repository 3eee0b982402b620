#include "core/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

/// mkstemp() makes private files; a new one gets what open() would have given it.
mode_t wanted_mode(const std::string& path) {
  struct stat old = {};
  if (stat(path.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

void flush_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may not be read cannot be flushed; the file itself is on the disk
  fsync(fd);
  close(fd);
}

}  // namespace

void write_whole_file(const std::string& path, const std::string& text, Flush flush) {
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  if (const fs::path real = fs::canonical(target, error); !error) target = real;
  if (fs::is_directory(target, error)) fail(path, "cannot be written", EISDIR);
  fs::create_directories(target.parent_path(), error);
  if (error) fail(path, "its folder cannot be made", error.value());

  Temporary temporary;
  std::string name = fmt::format("{}/.{}.XXXXXX", target.parent_path().string(), target.filename().string());
  temporary.fd = mkostemp(name.data(), O_CLOEXEC);
  if (temporary.fd < 0) fail(path, "cannot be written", errno);
  temporary.path = name;
  if (!write_all(temporary.fd, text)) fail(path, "cannot be written", errno);
  if (fchmod(temporary.fd, wanted_mode(target.string())) != 0) fail(path, "cannot be written", errno);
  if (flush == Flush::to_disk && fsync(temporary.fd) != 0) fail(path, "cannot be written", errno);
  if (rename(name.c_str(), target.c_str()) != 0) fail(path, "cannot be written", errno);
  temporary.placed = true;
  if (flush == Flush::to_disk) flush_folder(target.parent_path().string());
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
