// Keeps the newest files of a recording and deletes the oldest ones. Includes the files of earlier recordings
// of the same name, including those of previous runs of the program.
//
//   Segments ── opened(), grown(), ended(), closed() ──▶ FileRing ──▶ RingJournal
//
// A file is deleted only if a limit is exceeded or the disk is full, and its name, birth time and size
// (without a birth time its inode) are still those that this object or the locked journal has recorded. Ages
// are measured in recorded time, so pauses, jumps of timestamps and clock changes do not delete files.
// Internal to core/media. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/media/output/files/ring_journal.hpp"

namespace lensd {

class FileRing {
 public:
  struct Limits {
    int64_t duration_ns = 0;  ///< delete a file if the newer files have this much footage; 0: no limit
    int64_t bytes = 0;        ///< delete the oldest files while the total is larger; 0: no limit
    bool any() const noexcept { return duration_ns > 0 || bytes > 0; }
  };

  /// `path`: the path or template of the files. `owner`: see RecordSettings. `beneath`: see FileRules. The
  /// journal is opened with the first file. Without a usable journal, only files of this object are deleted.
  FileRing(const std::string& path, std::string owner, Limits limits, const std::string& beneath = {});

  /// Adds a new file as the open file. A file is never deleted before closed() was called for it.
  void opened(const std::string& path, const FileIdentity& identity);
  /// Records the footage of the open file so far, in case the process is killed.
  void grown(int64_t duration_ns);
  /// Records the footage and the size of the open file, to which nothing more is written.
  void ended(int64_t duration_ns);
  /// Marks a file as complete after ended() and after its sync, and deletes old files that exceed the limits.
  void closed(const std::string& path);
  /// Deletes the oldest files because the disk is full, but keeps the newest closed one. Returns false if it
  /// deleted none. Logs a warning once, until the limits of the ring are reached again.
  bool make_room() noexcept;

 private:
  void load();
  void take_listed();
  void report_link(const std::string& path);
  std::optional<FileState> state_in_folder(const std::string& path) const;
  bool belongs(const RingFile& file) const;
  void add(RingFile file);
  std::vector<RingFile> all_files() const;
  void renew_journal();
  void note(void (RingJournal::*event)(const RingFile&), const RingFile& file);
  bool too_much() const;
  void forget_missing();
  void drop_old();
  int64_t drop_oldest();

  const Limits limits_;
  std::string folder_, name_, owner_;
  bool loaded_ = false;
  bool full_reported_ = false;  ///< make_room() has logged its warning
  bool inodes_reported_ = false;
  bool link_reported_ = false;
  std::optional<RingJournal> journal_;
  std::optional<RingFile> current_;      ///< the open file
  std::vector<RingFile> ending_;         ///< files after ended() and before closed()
  std::deque<RingFile> files_;           ///< closed files, oldest first
  int64_t duration_ns_ = 0, bytes_ = 0;  ///< totals of files_
  size_t next_check_ = 0;                ///< index of the next file of files_ to check
};

}  // namespace lensd
