#include "core/media/output/files/file_ring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxJournalBytes = 64 << 20;
/// Superfluous lines in the journal before it is rewritten.
constexpr size_t kSpareLines = 1024;

/// EVENT INODE MILLISECONDS BYTES NAME, where EVENT is o (opened), c (closed) or d (deleted).
std::string line_of(char event, uint64_t inode, int64_t duration_ns, int64_t bytes, const std::string& path) {
  return fmt::format("{} {} {} {} {}\n", event, inode, duration_ns / 1'000'000, bytes,
                     fs::path(path).filename().string());
}

}  // namespace

FileRing::FileRing(const std::string& path, Limits limits) : limits_(limits) {
  const fs::path file(path);
  folder_ = file.has_parent_path() ? file.parent_path().string() : std::string(".");
  // A folder from a template changes with the time: there is no single place for the journal.
  if (folder_.find('%') != std::string::npos) return;
  journal_ = (fs::path(folder_) / fmt::format(".{}.ring", file.filename().string())).string();
  try {
    load();
  } catch (const Error& error) {
    log::warn("{}; older recordings are not deleted", error.what());
    entries_.clear();
    journal_.clear();
    return;
  }
  fd_ = open(journal_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (lines_ > entries_.size() + kSpareLines) compact();
  drop_old();
}

FileRing::~FileRing() {
  if (fd_ >= 0) close(fd_);
}

void FileRing::load() {
  const auto text = read_whole_file(journal_, kMaxJournalBytes);
  if (!text) return;
  struct stat info = {};
  if (stat(folder_.c_str(), &info) != 0) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line); ++lines_) {
    char event = 0;
    uint64_t inode = 0;
    int64_t ms = 0, bytes = 0;
    int name_at = 0;
    const int read = std::sscanf(line.c_str(), "%c %lu %ld %ld %n", &event, &inode, &ms, &bytes, &name_at);
    const std::string name = line.substr(std::min(line.size(), static_cast<size_t>(name_at)));
    // The last line may be incomplete.
    if (read != 4 || name_at == 0 || name.empty() || name.find('/') != std::string::npos || ms < 0 ||
        bytes < 0)
      continue;
    Entry entry{
        (fs::path(folder_) / name).string(), {info.st_dev, static_cast<ino_t>(inode)}, ms * 1'000'000, bytes};
    std::erase_if(entries_, [&](const Entry& e) { return e.path == entry.path; });
    if (event != 'd') entries_.push_back(std::move(entry));
  }
  std::erase_if(entries_, [](const Entry& e) { return !e.identity.names(e.path); });
  for (Entry& entry : entries_) {
    // A killed process did not write the size.
    if (struct stat file = {}; entry.bytes == 0 && lstat(entry.path.c_str(), &file) == 0)
      entry.bytes = file.st_size;
    duration_ns_ += entry.duration_ns, bytes_ += entry.bytes;
  }
}

void FileRing::opened(const std::string& path, const OutputFile::Identity& identity) {
  append('o', {path, identity});
}

void FileRing::closed(const std::string& path, const OutputFile::Identity& identity, int64_t duration_ns,
                      int64_t bytes) {
  const Entry entry{path, identity, duration_ns, bytes};
  append('c', entry);
  duration_ns_ += duration_ns, bytes_ += bytes;
  entries_.push_back(entry);
  drop_old();
  if (lines_ > 2 * entries_.size() + kSpareLines) compact();
}

void FileRing::drop_old() {
  const auto too_much = [&] {
    if (entries_.size() < 2) return false;
    const bool old =
        limits_.duration_ns > 0 && duration_ns_ - entries_.front().duration_ns >= limits_.duration_ns;
    return old || (limits_.bytes > 0 && bytes_ > limits_.bytes);
  };
  while (too_much()) {
    const Entry old = std::move(entries_.front());
    entries_.pop_front();
    duration_ns_ -= old.duration_ns, bytes_ -= old.bytes;
    if (old.identity.names(old.path) && unlink(old.path.c_str()) != 0)
      log::warn("cannot delete {}: {}", old.path, std::strerror(errno));
    append('d', old);
  }
}

/// Ignores errors: a file that is missing in the journal is never deleted, which is safe.
void FileRing::append(char event, const Entry& entry) {
  if (fd_ < 0) return;
  const std::string line = line_of(event, entry.identity.inode, entry.duration_ns, entry.bytes, entry.path);
  [[maybe_unused]] const ssize_t ignored = write(fd_, line.data(), line.size());
  ++lines_;
}

void FileRing::compact() {
  if (fd_ < 0) return;
  std::string text;
  for (const Entry& e : entries_) text += line_of('c', e.identity.inode, e.duration_ns, e.bytes, e.path);
  try {
    write_whole_file(journal_, text, Flush::none);
  } catch (const Error&) {
    return;  // keep the long one
  }
  close(fd_);
  fd_ = open(journal_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  lines_ = entries_.size();
}

}  // namespace lensd
