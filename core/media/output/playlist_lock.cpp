#include "core/media/output/playlist_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {
namespace {

/// Locks the playlist's lock file. Returns an empty text, or the reason of a failure.
std::string lock_file(const std::string& playlist, UniqueFd& lock) {
  std::filesystem::path path(playlist);
  path.replace_filename("." + path.filename().string() + ".lock");
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666));
  if (!file && errno == EACCES) file = UniqueFd(open(path.c_str(), O_RDONLY | kFlags));  // another user's
  int error = file ? 0 : errno;
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return "another output writes this playlist";
    if (errno == EBADF) error = errno;  // NFS locks no file that is only open for reading
  }
  if (error != 0) {
    const std::string reason = ff::error_text(AVERROR(error));
    struct stat status = {};
    return lstat(path.c_str(), &status) == 0
               ? fmt::format("its lock file {}: {}", path.filename().string(), reason)
               : reason;
  }
  // After an error, FFmpeg would replace the playlist by the temporary file of a killed process.
  unlink((playlist + ".tmp").c_str());
  lock = std::move(file);
  return {};
}

}  // namespace

std::string PlaylistLock::take(const std::string& playlist, Share& share) {
  if (share) return {};
  {
    const std::lock_guard guard(mutex_);
    if (kept_.use_count() > 1) return "the part before it is still being written";
    share = kept_;
  }
  if (share) return {};
  UniqueFd file;
  // Without the mutex, because release() must not wait for a network file system that does not answer.
  if (std::string refusal = lock_file(playlist, file); !refusal.empty()) return refusal;
  share = std::make_shared<const UniqueFd>(std::move(file));
  const std::lock_guard guard(mutex_);
  if (!released_) kept_ = share;
  return {};
}

void PlaylistLock::release() {
  const std::lock_guard guard(mutex_);
  released_ = true;
  kept_.reset();
}

}  // namespace lensd
