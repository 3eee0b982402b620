#include "tests/unit/core/media/system_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>

namespace lensd::test {
namespace {

std::string disk_folder;
std::atomic<int64_t> disk_bytes{0};  ///< 0: no simulated disk

std::string slow_folder;
std::atomic<int64_t> sync_ms{0}, write_ms{0};
std::atomic<int64_t> sync_fails_ms{-1};  ///< -1: the next sync does not fail
std::string inode_folder;
std::atomic<bool> changing_inodes{false}, birth_times{true};
std::atomic<uint64_t> next_inode{1'000'000};
std::atomic<int64_t> statx_count{0};

int64_t used_bytes() {
  int64_t sum = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(disk_folder, error))
    if (entry.is_regular_file(error)) sum += static_cast<int64_t>(entry.file_size(error));
  return sum;
}

/// Returns the path of an open file or folder; empty if it has none.
std::string open_path_of(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

/// Returns true if the descriptor is a file below `folder`.
bool is_below(const std::string& folder, int fd) {
  return open_path_of(fd).starts_with(folder + "/");
}

}  // namespace

SmallDisk::SmallDisk(std::string folder, int64_t bytes) {
  disk_folder = std::move(folder);
  disk_bytes = bytes;
}

SmallDisk::~SmallDisk() {
  disk_bytes = 0;
}

SlowDisk::SlowDisk(std::string folder, std::chrono::milliseconds sync, std::chrono::milliseconds write) {
  slow_folder = std::move(folder);
  sync_ms = sync.count(), write_ms = write.count();
}

SlowDisk::~SlowDisk() {
  sync_ms = 0, write_ms = 0;
}

FailingSync::FailingSync(std::chrono::milliseconds delay) {
  sync_fails_ms = delay.count();
}

FailingSync::~FailingSync() {
  sync_fails_ms = -1;
}

ChangingInodes::ChangingInodes(std::string folder, bool births) {
  inode_folder = std::move(folder);
  birth_times = births;
  changing_inodes = true;
}

ChangingInodes::~ChangingInodes() {
  changing_inodes = false;
}

int64_t statx_calls() {
  return statx_count;
}

}  // namespace lensd::test

extern "C" ssize_t write(int fd, const void* data, size_t size) {
  using namespace lensd::test;
  if (write_ms > 0 && is_below(slow_folder, fd))
    std::this_thread::sleep_for(std::chrono::milliseconds(write_ms.exchange(0)));
  if (const int64_t limit = disk_bytes; limit > 0 && is_below(disk_folder, fd)) {
    const int64_t room = limit - used_bytes();
    if (room <= 0) {
      errno = ENOSPC;
      return -1;
    }
    if (static_cast<int64_t>(size) > room) size = static_cast<size_t>(room);
  }
  return syscall(SYS_write, fd, data, size);
}

extern "C" int fdatasync(int fd) {
  using namespace lensd::test;
  const int64_t fails_ms = sync_fails_ms.exchange(-1);
  std::this_thread::sleep_for(std::chrono::milliseconds(fails_ms >= 0 ? fails_ms : sync_ms.load()));
  if (fails_ms >= 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

extern "C" int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) {
  using namespace lensd::test;
  ++statx_count;
  const long result = syscall(SYS_statx, folder, path, flags, mask, out);
  const std::string name = *path == '\0' || *path == '/' || folder == AT_FDCWD
                               ? std::string(path)
                               : open_path_of(folder) + "/" + path;
  if (result != 0 || !changing_inodes) return static_cast<int>(result);
  if (!birth_times) out->stx_mask &= ~static_cast<uint32_t>(STATX_BTIME);
  // A journal is open, so that its inode stays in the cache.
  if (name.starts_with(inode_folder + "/") && !name.ends_with(".ring")) out->stx_ino = next_inode++;
  return 0;
}
