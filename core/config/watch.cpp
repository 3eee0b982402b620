#include "core/config/watch.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/config/config.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// inotify mask of a folder on the path to a file: the folder is moved or deleted.
constexpr uint32_t kPathEvents = IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_MASK_ADD;
/// inotify mask of a folder with watched names: also finished writes, renames, new files and new permissions.
/// Without IN_MODIFY, so that files are not read while they are being written.
constexpr uint32_t kFileEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ATTRIB | kPathEvents;
constexpr int kMaxLinks = 16;

/// The names to watch in each folder. Folders that are only on the path to a file have no names.
using Names = std::map<std::string, std::set<std::string>>;

/// Adds what to watch for changes of `file`: its own name, and each symbolic link on its path.
void add_folders(const fs::path& file, Names& names, int depth = 0) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  fs::path part;
  for (const fs::path& name : path) {
    const std::string folder = part.string();
    part /= name;
    if (folder.empty()) continue;  // the root has no parent folder
    std::set<std::string>& watched = names[folder];
    const bool link = fs::is_symlink(part, error);
    if (link || part == path) watched.insert(name.string());
    if (link && depth < kMaxLinks)
      add_folders(part.parent_path() / fs::read_symlink(part, error), names, depth + 1);
  }
}

/// Returns true for symbolic and hard links, which are complete when they are created. Other new files may be
/// incomplete until IN_CLOSE_WRITE.
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
  std::optional<std::vector<std::string>> now = texts();
  unread_ = !now;
  known_ = now ? std::move(*now) : std::vector<std::string>(files_.size());
  watch_folders();
  read_ns_ = now_ns();
}

ConfigWatch::~ConfigWatch() {
  close(fd_);
}

/// Replaces all watches, because folders and links may have changed.
void ConfigWatch::watch_folders() {
  Names names;
  for (const std::string& file : files_) add_folders(file, names);
  for (const auto& [watch, folder] : watches_) inotify_rm_watch(fd_, watch);
  watches_.clear();
  missing_ = false;
  for (const auto& [path, watched] : names) {
    const int watch = inotify_add_watch(fd_, path.c_str(), watched.empty() ? kPathEvents : kFileEvents);
    if (watch < 0) {
      missing_ = missing_ || !watched.empty();
      continue;
    }
    Folder& folder = watches_[watch];  // one folder may have two paths
    folder.path = path;
    folder.names.insert(watched.begin(), watched.end());
  }
}

/// Returns true if the event may mean that a text has changed. Ignores events of replaced watches, because
/// they are older than the last read of the files.
bool ConfigWatch::concerns(const inotify_event& event) const {
  if (event.mask & IN_Q_OVERFLOW) return true;
  const auto watch = watches_.find(event.wd);
  if (watch == watches_.end() || (event.mask & IN_IGNORED)) return false;
  // A file may become readable after it was moved there. Other files may be incomplete when their mode
  // changes.
  if ((event.mask & IN_ATTRIB) && !unread_) return false;
  if (event.len == 0) return true;  // an event of the folder itself
  const auto& [path, names] = watch->second;
  return names.contains(event.name) && (!(event.mask & IN_CREATE) || is_link(path + "/" + event.name));
}

void ConfigWatch::drain() {
  alignas(inotify_event) char buffer[8192];
  bool touched = false;
  for (ssize_t size; (size = read(fd_, buffer, sizeof buffer)) > 0;)
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      touched = touched || concerns(*event);
      at += sizeof(inotify_event) + event->len;
    }
  if (!touched) return;
  touched_ns_ = now_ns();
  if (first_ns_ == 0) first_ns_ = touched_ns_;
}

/// Returns the time of the next read, as in now_ns(); 0 if none is scheduled.
int64_t ConfigWatch::due_ns() const {
  if (touched_ns_ != 0) return std::min(touched_ns_ + kRestNs, first_ns_ + kMaxRestNs);
  return missing_ ? read_ns_ + kMissingNs : 0;
}

int ConfigWatch::wait_ms() const {
  const int64_t due = due_ns();
  return due == 0 ? -1 : static_cast<int>(std::max<int64_t>(0, due - now_ns()) / 1'000'000 + 1);
}

bool ConfigWatch::changed() {
  if (due_ns() == 0 || now_ns() < due_ns()) return false;
  first_ns_ = touched_ns_ = 0, read_ns_ = now_ns();
  watch_folders();  // before reading, so that no change is missed
  std::optional<std::vector<std::string>> now = texts();
  unread_ = !now;
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
