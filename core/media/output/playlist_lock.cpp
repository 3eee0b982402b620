#include "core/media/output/playlist_lock.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/base/lock_file.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {
namespace {

/// Locks the playlist's lock file. Returns an empty text, or the reason of a failure.
std::string lock_file(const std::string& playlist, UniqueFd& lock) {
  std::filesystem::path path(playlist);
  path.replace_filename("." + path.filename().string() + ".lock");
  UniqueFd file = open_lock_file(path.string());
  if (!file) {
    const int error = errno;
    const std::string reason = error == EPERM ? "it belongs to another user" : ff::error_text(AVERROR(error));
    struct stat status = {};
    return lstat(path.c_str(), &status) == 0
               ? fmt::format("its lock file {}: {}", path.filename().string(), reason)
               : reason;
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return "another output writes this playlist";
  // After an error, FFmpeg would replace the playlist with the temporary file of a killed process.
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
  // Do not hold the mutex here: release() must not wait for a network file system that does not answer.
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
