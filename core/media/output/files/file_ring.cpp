#include "core/media/output/files/file_ring.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/media/output/files/file_names.hpp"
#include "core/media/output/files/folders.hpp"

namespace lensd {
namespace {

/// The journal is rewritten if it has more than two lines per file plus this number.
constexpr size_t kSpareLines = 1024;
/// make_room() deletes at least this much, so that other programs can write too, but at most an eighth of a
/// small ring.
constexpr int64_t kRoomBytes = 64 << 20;
/// Number of files that are checked when a file is complete.
constexpr size_t kChecks = 32;

/// Returns the name of the journal of `path`, a file name or template, in its fixed_folder().
std::string journal_name(const std::string& path) {
  std::string name;
  for (const char c : path_below(fixed_folder(path), path)) {
    if (c == '/')
      name += "%2f";
    else
      name += c;
  }
  return name;
}

/// Returns the fixed_folder() of `path` below the folder `beneath`, in which '%' has no meaning.
std::string ring_folder(const std::string& path, const std::string& beneath) {
  const std::string folder = fixed_folder(path);
  if (beneath.empty()) return folder;
  return folder == "." ? beneath : (std::filesystem::path(beneath) / folder).string();
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

FileRing::FileRing(const std::string& path, std::string owner, Limits limits, const std::string& beneath)
    : limits_(limits),
      folder_(ring_folder(path, beneath)),
      name_(journal_name(path)),
      owner_(std::move(owner)) {}

void FileRing::load() {
  try {
    journal_.emplace(folder_, name_, owner_);
  } catch (const Error& error) {
    return log::warn("{}; older recordings are not deleted", error.what());
  }
  take_listed();
}

/// Adds the files that the journal listed when it was opened, except those that are in the ring already.
void FileRing::take_listed() {
  std::set<std::string> known;
  for (const RingFile& file : all_files()) known.insert(path_below(folder_, file.path));
  int others = 0;
  for (RingFile& file : journal_->take_files()) {
    if (known.contains(path_below(folder_, file.path))) continue;
    const auto state = state_in_folder(file.path);
    if (!state) continue;
    file.identity.device = state->identity.device;
    // If a process was killed while it wrote a file, the file's size is unknown. Without a birth time, the
    // inode may meanwhile belong to another file.
    const auto bytes = file.closed || file.bytes > 0 ? std::optional(file.bytes) : std::nullopt;
    if ((!bytes && file.identity.birth_ns == 0) || !is_file(*state, file.identity, bytes)) {
      ++others;
      continue;
    }
    file.identity = state->identity;
    file.bytes = state->bytes;
    file.closed = true;
    add(std::move(file));
  }
  if (others > 0)
    log::warn("{}: {} listed files were replaced or changed, or their inode numbers changed: they are kept",
              journal_->path(), others);
}

/// Returns the state of a file of the ring. Returns nullopt, with errno set, if there is none, or if a folder
/// on its path is a symbolic link, because the file may then be outside of the ring's folder.
std::optional<FileState> FileRing::state_in_folder(const std::string& path) const {
  const UniqueFd folder = open_folder_of(folder_, path);
  return folder ? file_state(folder.get(), name_of(path)) : std::nullopt;
}

/// Returns false if the file is missing, was replaced or has another size. Returns true if the disk cannot be
/// read, so that the file stays in the ring.
bool FileRing::belongs(const RingFile& file) const {
  const auto state = state_in_folder(file.path);
  if (!state) return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
  return is_file(*state, file.identity, file.bytes);
}

/// Warns once if a folder on the path of a file is a symbolic link, because such files are never deleted.
void FileRing::report_link(const std::string& path) {
  if (link_reported_) return;
  const std::string link = linked_folder(folder_, path);
  link_reported_ = !link.empty();
  if (link_reported_)
    log::warn("{}: this folder is a symbolic link: the ring does not delete the recordings behind it", link);
}

void FileRing::opened(const std::string& path, const FileIdentity& identity) {
  if (!std::exchange(loaded_, true))
    load();
  else if (journal_ && journal_->is_lost())
    renew_journal();
  if (identity.birth_ns == 0 && has_changing_inodes(folder_) && !std::exchange(inodes_reported_, true))
    log::warn(
        "{}: this file system has neither birth times nor lasting inode numbers: recordings of earlier runs "
        "may not be deleted",
        folder_);
  report_link(path);
  current_ = RingFile{.path = path, .identity = identity};
  note(&RingJournal::opened, *current_);
}

void FileRing::grown(int64_t duration_ns) {
  current_->duration_ns = duration_ns;
  note(&RingJournal::opened, *current_);
}

void FileRing::ended(int64_t duration_ns) {
  // Another program may change the file before closed().
  if (const auto state = state_in_folder(current_->path);
      state && is_file(*state, current_->identity, std::nullopt))
    current_->bytes = state->bytes;
  grown(duration_ns);
  ending_.push_back(*std::exchange(current_, std::nullopt));
}

void FileRing::closed(const std::string& path) {
  const auto found = std::ranges::find(ending_, path, &RingFile::path);
  if (found == ending_.end()) return;
  RingFile file = std::move(*found);
  ending_.erase(found);
  const auto state = state_in_folder(file.path);
  if (!state || !is_file(*state, file.identity, file.bytes)) return;  // moved, deleted or changed
  file.identity = state->identity, file.closed = true;
  add(file);
  note(&RingJournal::closed, file);
  drop_old();
}

void FileRing::add(RingFile file) {
  duration_ns_ += file.duration_ns, bytes_ += file.bytes;
  files_.push_back(std::move(file));
}

bool FileRing::too_much() const {
  if (files_.size() < 2) return false;
  const bool old =
      limits_.duration_ns > 0 && duration_ns_ - files_.front().duration_ns >= limits_.duration_ns;
  return old || (limits_.bytes > 0 && bytes_ > limits_.bytes);
}

/// Removes files from the ring that were moved, replaced or changed, so that they no longer count towards its
/// limits. Checks some files per call, since a check of all takes seconds on a slow disk.
void FileRing::forget_missing() {
  for (size_t left = std::min(files_.size(), kChecks); left > 0; --left) {
    if (next_check_ >= files_.size()) next_check_ = 0;
    const RingFile& file = files_[next_check_];
    if (belongs(file)) {
      ++next_check_;
      continue;
    }
    duration_ns_ -= file.duration_ns, bytes_ -= file.bytes;
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(next_check_));
  }
}

void FileRing::drop_old() {
  if (!too_much()) return;
  forget_missing();
  if (!too_much()) return;
  full_reported_ = false;
  while (too_much()) drop_oldest();
}

/// Removes the oldest file from the ring and deletes it if it is still the recorded file. Returns the number
/// of bytes deleted.
int64_t FileRing::drop_oldest() {
  const RingFile old = std::move(files_.front());
  files_.pop_front();
  if (next_check_ > 0) --next_check_;
  duration_ns_ -= old.duration_ns, bytes_ -= old.bytes;
  const UniqueFd folder = open_folder_of(folder_, old.path);
  const std::string name = name_of(old.path);
  const auto state = folder ? file_state(folder.get(), name) : std::nullopt;
  const bool ours = state && is_file(*state, old.identity, old.bytes);
  const bool deleted = ours && unlinkat(folder.get(), name.c_str(), 0) == 0;
  if (ours && !deleted) log::warn("cannot delete {}: {}", old.path, std::strerror(errno));
  note(&RingJournal::deleted, old);
  if (deleted) remove_empty_folders(folder_, old.path);
  return deleted ? old.bytes : 0;
}

bool FileRing::make_room() noexcept {
  try {
    if (!std::exchange(loaded_, true)) load();
    if (files_.size() < 2) return false;
    const int64_t average = bytes_ / static_cast<int64_t>(files_.size());
    const int64_t wanted = std::max(average * 3 / 2, std::min(kRoomBytes, bytes_ / 8));
    int64_t deleted = 0;
    while (files_.size() >= 2 && deleted < wanted) deleted += drop_oldest();
    if (deleted > 0 && !std::exchange(full_reported_, true))
      log::warn(
          "{}: the disk is full: the oldest recordings are deleted before the ring's limits are reached",
          folder_);
    return deleted > 0;
  } catch (const std::exception&) {  // out of memory
    return false;
  }
}

/// Appends an event to the journal and rewrites the journal if necessary.
void FileRing::note(void (RingJournal::*event)(const RingFile&), const RingFile& file) {
  if (!journal_) return;
  ((*journal_).*event)(file);
  if (!journal_->incomplete() && journal_->lines() <= 2 * files_.size() + kSpareLines) return;
  journal_->rewrite(all_files());
}

std::vector<RingFile> FileRing::all_files() const {
  std::vector<RingFile> all(files_.begin(), files_.end());
  all.insert(all.end(), ending_.begin(), ending_.end());
  if (current_) all.push_back(*current_);
  return all;
}

/// Writes the journal again after another program has deleted it, for example together with its folder.
void FileRing::renew_journal() {
  log::warn("{}: was deleted by another program; it is written again", journal_->path());
  try {
    journal_.emplace(folder_, name_, owner_);
    take_listed();  // another recording may have written a journal of this name meanwhile
    journal_->rewrite(all_files());
  } catch (const Error& error) {
    log::warn("{}; the recordings so far are not deleted after a restart", error.what());
  }
}

}  // namespace lensd
