// The journal of a file ring: a text file .NAME.ring in the folder of the recorded files. If the files are in
// folders with a date, it is in the folder above those, and the slashes of NAME are %2f.
//
//   lensd ring 2 OWNER
//   EVENT INODE BIRTH_NS DURATION_NS BYTES NAME CHECKSUM
//
// EVENT is o (open), c (closed) or d (deleted). BYTES is 0 until the file is complete. NAME is relative to
// the journal's folder, and special characters are %XX. The recording that has the journal open holds a lock
// on it and is its only writer. If the journal is locked or belongs to another owner, a recording of the same
// name uses .NAME.2.ring, and so on. A recording never deletes the files of another running recording,
// another configuration or another user. Internal to core/media. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "core/media/output/files/file_identity.hpp"

namespace lensd {

struct RingFile {
  std::string path;
  FileIdentity identity;    ///< the journal omits `device`, which can change between boots
  int64_t duration_ns = 0;  ///< recorded time, without gaps
  int64_t bytes = 0;        ///< 0: unknown, the file is being written, or its process was killed
  bool closed = false;      ///< complete and synced
};

struct JournalText {
  std::string owner;
  std::vector<RingFile> files;  ///< files, oldest first; `path` is relative to the journal's folder
  size_t lines = 0;
  int64_t complete_bytes = 0;  ///< size of the complete lines
  bool damaged = false;        ///< some lines are incomplete or invalid
};

/// Parses a journal and ignores invalid lines. Returns nullopt if `text` is not a journal of this version.
/// Thread-safe.
std::optional<JournalText> parse_journal(std::string_view text);

class RingJournal {
 public:
  /// Opens and locks the first journal of `name` and `owner` that no other recording uses; creates it if
  /// necessary. Throws Error(runtime_failure) if none is usable, or if one cannot be created or locked.
  RingJournal(const std::string& folder, const std::string& name, std::string owner);

  const std::string& path() const noexcept { return path_; }
  /// The first call returns the files that the journal listed when it was opened; later calls return none.
  /// Paths include the folder.
  std::vector<RingFile> take_files();

  void opened(const RingFile& file) { append('o', file); }
  void closed(const RingFile& file) { append('c', file); }
  void deleted(const RingFile& file) { append('d', file); }

  size_t lines() const noexcept { return lines_; }
  /// Returns true if a line is invalid or could not be written, so that rewrite() is necessary.
  bool incomplete() const noexcept { return incomplete_; }
  /// Returns true if another program has deleted or replaced the journal. What is written to it is then lost.
  bool is_lost() const;
  /// Replaces the content atomically. Keeps the old content on failure.
  void rewrite(const std::vector<RingFile>& files);

 private:
  bool take();
  std::optional<JournalText> read() const;
  bool is_current() const;
  void append(char event, const RingFile& file);

  std::string folder_, owner_, path_;
  UniqueFd fd_;
  int64_t bytes_ = 0;
  size_t lines_ = 0;
  bool incomplete_ = false;
  std::vector<RingFile> files_;
};

}  // namespace lensd
