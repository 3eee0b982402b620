#include "core/config/watch.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/config/config.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Finished writes, renames, new files and deleted folders. Without IN_MODIFY, so that files are not read
/// while they are being written.
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_ONLYDIR;
constexpr int kMaxLinks = 16;

/// Adds the folders to watch for changes of `file`: its own folder, and the folder of each symbolic link on
/// its path.
void add_folders(const fs::path& file, std::set<std::string>& folders, int depth = 0) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  fs::path part;
  for (const fs::path& name : path) {
    part /= name;
    const bool last = part == path;
    if (!fs::is_symlink(part, error) && !last) continue;
    folders.insert(part.parent_path().string());
    if (fs::is_symlink(part, error) && depth < kMaxLinks)
      add_folders(part.parent_path() / fs::read_symlink(part, error), folders, depth + 1);
  }
}

/// Returns true for symbolic and hard links, which are complete when created. Other new files are still being
/// written until IN_CLOSE_WRITE.
bool is_link(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && (S_ISLNK(info.st_mode) || info.st_nlink > 1);
}

}  // namespace

ConfigWatch::ConfigWatch(std::vector<std::string> files) : files_(std::move(files)) {
  fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd_ < 0)
    throw Error(ExitCode::runtime_failure, "inotify", std::strerror(errno),
                "raise fs.inotify.max_user_instances");
  known_ = texts().value_or(std::vector<std::string>(files_.size()));
  watch_folders();
}

ConfigWatch::~ConfigWatch() {
  close(fd_);
}

/// Replaces all watches, because links may have changed.
void ConfigWatch::watch_folders() {
  std::set<std::string> folders;
  for (const std::string& file : files_) add_folders(file, folders);
  for (const auto& [watch, folder] : watches_) inotify_rm_watch(fd_, watch);
  watches_.clear();
  for (const std::string& folder : folders)
    if (const int watch = inotify_add_watch(fd_, folder.c_str(), kEvents); watch >= 0)
      watches_[watch] = folder;
}

void ConfigWatch::drain() {
  alignas(inotify_event) char buffer[8192];
  bool touched = false;
  for (ssize_t size; (size = read(fd_, buffer, sizeof buffer)) > 0;)
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      const auto watch = watches_.find(event->wd);
      if (event->mask & IN_CREATE)
        touched = touched || (watch != watches_.end() && is_link(watch->second + "/" + event->name));
      else
        touched = touched || !(event->mask & IN_IGNORED);  // IN_IGNORED reports a removed watch
      at += sizeof(inotify_event) + event->len;
    }
  if (touched) touched_ns_ = now_ns();
}

int ConfigWatch::wait_ms() const {
  if (touched_ns_ == 0) return -1;
  return static_cast<int>(std::max<int64_t>(0, touched_ns_ + kRestNs - now_ns()) / 1'000'000 + 1);
}

bool ConfigWatch::changed() {
  if (touched_ns_ == 0 || now_ns() - touched_ns_ < kRestNs) return false;
  touched_ns_ = 0;
  watch_folders();  // before reading, so that no change is missed
  std::optional<std::vector<std::string>> now = texts();
  if (!now || *now == known_) return false;
  known_ = std::move(*now);
  return true;
}

/// Returns the texts of all files. Returns nullopt if one cannot be read or is not a regular file: reading a
/// pipe could block.
std::optional<std::vector<std::string>> ConfigWatch::texts() const {
  std::vector<std::string> all;
  try {
    for (const std::string& file : files_) all.push_back(read_config_text(file, FileKind::regular));
  } catch (const Error&) {
    return std::nullopt;
  }
  return all;
}

}  // namespace lensd
