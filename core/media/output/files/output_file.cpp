#include "core/media/output/files/output_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/base/clock.hpp"
#include "core/media/output/files/folders.hpp"

namespace lensd {
namespace {

constexpr int kWriteBufferBytes = 256 * 1024;
/// After this amount of new data, the kernel starts to write, so that little is left for the sync at the end.
constexpr int64_t kWritebackBytes = 8 << 20;
constexpr int kStopPollMs = 50;  ///< interval between checks of FileRules::stop
/// Without FileRules::reader_timeout_ns, each wait for a reader ends this time after FileRules::stop.
constexpr int kStoppedMs = 300;
/// Maximum number of successive calls of FileRules::make_room. On file systems with snapshots, deleting files
/// may free nothing.
constexpr int kMaxRooms = 3;

Error taken_error(const std::string& path, const std::string& why) {
  return Error(ExitCode::usage, path, why, "choose another name");
}

/// Returns true if this process has the file open with another descriptor, for example as the source.
bool is_open_here(int fd, const FileIdentity& identity) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int other = std::atoi(entry.path().filename().c_str());
    if (const auto state = file_state(other); other != fd && state && state->identity == identity)
      return true;
  }
  return false;
}

/// Call if opening the file failed with `error`, an errno value. Returns true if the call should be repeated,
/// because the file is a pipe without a reader; waits kStopPollMs first. Keeps errno otherwise.
bool awaits_reader(const std::string& path, const FileRules& rules, int error) {
  struct stat info = {};
  const bool waits = error == ENXIO && rules.reader_timeout_ns == 0 && rules.stop && !*rules.stop &&
                     stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  if (waits) std::this_thread::sleep_for(std::chrono::milliseconds(kStopPollMs));
  errno = error;
  return waits;
}

/// Returns the number of hard links to a file; 0 if it is unknown.
nlink_t link_count(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 ? info.st_nlink : 0;
}

}  // namespace

Error write_error(const std::string& path, int error) {
  if (error == EEXIST) return taken_error(path, "a file of this name exists already");
  if (error == EXDEV || error == ELOOP)
    return Error(ExitCode::runtime_failure, path, "this name leaves the folder for recordings");
  if (error == ENXIO || error == EAGAIN)
    return Error(ExitCode::runtime_failure, path,
                 error == ENXIO ? "nobody reads this pipe" : "the reader of this pipe reads no data");
  return Error(ExitCode::runtime_failure, path, "cannot be written: " + ff::error_text(AVERROR(error)));
}

// Delegates to the other constructor so that the destructor runs if this body throws.
OutputFile::OutputFile(const std::string& path, const FileRules& rules) : OutputFile(rules.full_path(path)) {
  make_room_ = rules.make_room;
  do open_file(path, rules, true);
  while (fd_ < 0 && found_room(errno));
  created_ = fd_ >= 0;
  if (fd_ < 0 && errno == EEXIST && rules.overwrite) {
    do open_file(path, rules, false);
    while (fd_ < 0 && awaits_reader(path_, rules, errno));
  }
  if (fd_ < 0) throw write_error(path_, errno);
  const auto state = file_state(fd_);
  if (!state) throw write_error(path_, errno);
  identity_ = state->identity;
  regular_ = state->regular;
  counts_names_ = regular_ && link_count(fd_) > 0;
  if (regular_) take(rules.overwrite);
  reader_timeout_ns_ = rules.reader_timeout_ns, stop_ = rules.stop;
  pollfd room{fd_, POLLOUT, 0};
  if (!regular_ && reader_timeout_ns_ > 0 && poll(&room, 1, 0) == 0) throw write_error(path_, EAGAIN);
  context_ = ff::make_io(kWriteBufferBytes, this, nullptr, write, regular_ ? seek : nullptr);
}

void OutputFile::open_file(const std::string& path, const FileRules& rules, bool create) {
  // With O_NONBLOCK, opening a pipe without a reader fails with ENXIO instead of waiting.
  const int flags = O_WRONLY | O_CLOEXEC | O_CREAT | O_NOCTTY | (create ? O_EXCL | O_NOFOLLOW : 0) |
                    (rules.reader_timeout_ns > 0 || rules.stop ? O_NONBLOCK : 0);
  fd_ = open_path(rules.beneath, path, flags).release();
  if (fd_ >= 0 || errno != ENOENT || rules.make_below.empty()) return;
  if (const int error = make_folders(rules.beneath, rules.make_below, path); error != 0)
    errno = error;
  else
    fd_ = open_path(rules.beneath, path, flags).release();
}

/// Locks the file and, if `overwrite` is true, removes its content. Throws Error(usage) if another recording
/// writes the file, or if this process reads a file to be overwritten. On a file system without locks,
/// another recording is not detected.
void OutputFile::take(bool overwrite) {
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw taken_error(path_, "another recording is writing this file");
  if (!overwrite) return;
  if (is_open_here(fd_, identity_)) throw taken_error(path_, "this file is the source that is being read");
  if (ftruncate(fd_, 0) != 0) throw write_error(path_, errno);
}

/// Calls FileRules::make_room if `error`, an errno value, means that the disk is full. Returns true if the
/// call that failed should be repeated. Keeps errno otherwise.
bool OutputFile::found_room(int error) noexcept {
  if ((error != ENOSPC && error != EDQUOT) || !make_room_ || rooms_ >= kMaxRooms) return false;
  ++rooms_;
  const bool found = make_room_();
  errno = error;
  return found;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

int OutputFile::write(void* self, ff::WriteByte* buffer, int size) noexcept {
  auto& file = *static_cast<OutputFile*>(self);
  if (file.discarding_) return size;
  for (int done = 0; done < size;) {
    const ssize_t n = ::write(file.fd_, buffer + done, static_cast<size_t>(size - done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && (file.reader_timeout_ns_ > 0 || file.stop_)) {
      if (const int error = file.wait_for_reader(); error < 0) return error;
      continue;
    }
    if (n < 0 && file.found_room(errno)) continue;
    if (n < 0) return AVERROR(errno);
    file.rooms_ = 0;
    done += static_cast<int>(n);
    file.at_ += n;
    file.end_ = std::max(file.end_, file.at_);
  }
  file.start_writeback();
  return size;
}

bool OutputFile::deleted() const noexcept {
  return counts_names_ && link_count(fd_) == 0;
}

/// Starts the write-back of the new data, without waiting for its end. Ignores errors: close() reports them.
void OutputFile::start_writeback() noexcept {
  if (!regular_ || end_ - writeback_ < kWritebackBytes) return;
  sync_file_range(fd_, writeback_, end_ - writeback_, SYNC_FILE_RANGE_WRITE);
  writeback_ = end_;
}

/// Waits until the pipe has room. Returns 0, AVERROR_EXIT after FileRules::stop, or AVERROR(EAGAIN) after the
/// timeout. Without a timeout, a reader has kStoppedMs after FileRules::stop to read the end of the file.
int OutputFile::wait_for_reader() const noexcept {
  const bool limited = reader_timeout_ns_ > 0;
  const int64_t end = now_ns() + reader_timeout_ns_;
  for (pollfd room{fd_, POLLOUT, 0};;) {
    const bool stopped = stop_ && *stop_;
    if (stopped && limited) return AVERROR_EXIT;
    if (poll(&room, 1, stopped ? kStoppedMs : kStopPollMs) > 0) return 0;
    if (stopped || (limited && now_ns() > end)) return AVERROR(EAGAIN);
  }
}

int64_t OutputFile::seek(void* self, int64_t offset, int whence) noexcept {
  auto& file = *static_cast<OutputFile*>(self);
  if (whence & AVSEEK_SIZE) return file.end_;
  const off_t at = lseek(file.fd_, offset, whence & ~AVSEEK_FORCE);
  if (at < 0) return AVERROR(errno);
  return file.at_ = at;
}

int OutputFile::flush() noexcept {
  avio_flush(context());
  return context_->error;
}

void OutputFile::cut(int64_t bytes) noexcept {
  discarding_ = true;
  avio_flush(context());
  if (regular_ && ftruncate(fd_, bytes) == 0) end_ = bytes;
}

int OutputFile::close() noexcept {
  if (fd_ < 0) return 0;
  int error = flush();
  if (regular_ && fdatasync(fd_) != 0 && error >= 0) error = AVERROR(errno);
  if (::close(fd_) != 0 && error >= 0) error = AVERROR(errno);
  fd_ = -1;
  discarding_ = true;
  return error;
}

}  // namespace lensd
