#include "core/media/ffmpeg/file_io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lensd {
namespace {

constexpr int kBufferBytes = 256 * 1024;
constexpr int kInterruptPollMs = 50;  ///< timeout of poll(), after which interruptions are checked

Error file_error(const std::string& path, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::bad_source, path, what, hint);
}

Error open_error(const std::string& path, int error) {
  if (error == ENOENT) return file_error(path, "there is no such file", "check the path");
  if (error == EACCES) return file_error(path, "no permission to read this file", "check its owner and mode");
  return file_error(path, std::string("cannot be opened: ") + std::strerror(error));
}

}  // namespace

// Delegates to the other constructor so that the destructor runs if this body throws.
FileIo::FileIo(const std::string& path, const StopFlags& stop) : FileIo(stop) {
  owns_fd_ = path != "-";
  const std::string where = owns_fd_ ? path : "standard input";
  // Without O_NONBLOCK, opening a FIFO would wait for its writer and could not be interrupted.
  fd_ = owns_fd_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
  struct stat status = {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) throw open_error(where, errno);
  if (S_ISDIR(status.st_mode))
    throw file_error(where, "this is a directory", "name a file, or a sequence such as img_%04d.png");
  regular_ = S_ISREG(status.st_mode);
  if (regular_ && status.st_size == 0) throw file_error(where, "the file is empty");
  context_ = ff::make_io(kBufferBytes, this, read, nullptr, regular_ ? seek : nullptr);
}

FileIo::~FileIo() {
  if (owns_fd_ && fd_ >= 0) close(fd_);
}

bool FileIo::wait_readable() const noexcept {
  for (;;) {
    if (stop_.raised()) return false;
    struct pollfd wait = {fd_, POLLIN, 0};
    if (poll(&wait, 1, kInterruptPollMs) > 0) return true;
    stop_.count_wait();
  }
}

int FileIo::read(void* self, uint8_t* buffer, int size) noexcept {
  auto& io = *static_cast<FileIo*>(self);
  const auto bytes = static_cast<size_t>(size);
  for (;;) {
    if (!io.regular_ && !io.wait_readable()) return AVERROR_EXIT;
    const ssize_t got = io.regular_ ? pread(io.fd_, buffer, bytes, io.at_) : ::read(io.fd_, buffer, bytes);
    if (got > 0) {
      io.at_ += got;
      return static_cast<int>(got);
    }
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

int64_t FileIo::seek(void* self, int64_t offset, int whence) noexcept {
  auto& io = *static_cast<FileIo*>(self);
  struct stat status = {};
  whence &= ~AVSEEK_FORCE;
  if (whence != SEEK_SET && whence != SEEK_CUR && fstat(io.fd_, &status) != 0) return AVERROR(errno);
  if (whence & AVSEEK_SIZE) return status.st_size;
  const int64_t at = offset + (whence == SEEK_CUR ? io.at_ : whence == SEEK_END ? status.st_size : 0);
  if (at < 0) return AVERROR(EINVAL);
  return io.at_ = at;
}

}  // namespace lensd
