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
constexpr int kPollMs = 50;  ///< how late an interruption of a silent pipe is seen

Error refused(const std::string& path, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::bad_source, path, what, hint);
}

Error open_error(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      return refused(path, "there is no such file", "check the path");
    case EACCES:
      return refused(path, "no permission to read this file", "check its owner and mode");
    default:
      return refused(path, std::string("cannot be opened: ") + std::strerror(error));
  }
}

}  // namespace

FileIo::FileIo(const std::string& path, const StopFlags& stop) : stop_(stop) {
  const std::string where = path == "-" ? "standard input" : path;
  owns_fd_ = path != "-";
  // Without O_NONBLOCK, opening a FIFO would wait for its writer where nothing can interrupt it.
  fd_ = owns_fd_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
  if (fd_ < 0) throw open_error(where, errno);
  struct stat status = {};
  const auto fail = [&](const Error& error) {
    if (owns_fd_) close(fd_);
    throw error;
  };
  if (fstat(fd_, &status) != 0) fail(open_error(where, errno));
  if (S_ISDIR(status.st_mode))
    fail(refused(where, "this is a directory", "name a file, or a sequence such as img_%04d.png"));
  regular_ = S_ISREG(status.st_mode);
  if (regular_) lseek(fd_, 0, SEEK_SET);  // standard input may have been read before, by an earlier opening
  if (regular_ && status.st_size == 0) fail(refused(where, "the file is empty"));

  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer)
    context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, regular_ ? seek : nullptr);
  if (!context_) {
    av_free(buffer);
    fail(Error(ExitCode::runtime_failure, where, "out of memory"));
  }
  if (!regular_) context_->seekable = 0;
}

FileIo::~FileIo() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
  if (owns_fd_) close(fd_);
}

bool FileIo::wait_readable() const noexcept {
  for (;;) {
    if (stop_.raised()) return false;
    struct pollfd wait = {fd_, POLLIN, 0};
    if (poll(&wait, 1, kPollMs) > 0) return true;
  }
}

int FileIo::read(void* self, uint8_t* buffer, int size) noexcept {
  const auto& io = *static_cast<const FileIo*>(self);
  for (;;) {
    if (!io.regular_ && !io.wait_readable()) return AVERROR_EXIT;
    const ssize_t got = ::read(io.fd_, buffer, static_cast<size_t>(size));
    if (got > 0) return static_cast<int>(got);
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

int64_t FileIo::seek(void* self, int64_t offset, int whence) noexcept {
  const auto& io = *static_cast<const FileIo*>(self);
  if (whence & AVSEEK_SIZE) {
    struct stat status = {};
    return fstat(io.fd_, &status) == 0 ? status.st_size : AVERROR(errno);
  }
  const off_t at = lseek(io.fd_, offset, whence & ~AVSEEK_FORCE);
  return at < 0 ? AVERROR(errno) : at;
}

}  // namespace lensd
