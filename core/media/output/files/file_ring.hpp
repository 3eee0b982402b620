// Keeps the newest files of a recording and deletes the oldest ones: across its segments, recordings of the
// same name, and restarts of the program.
//
//   Segments ── opened(), closed() ──▶ FileRing ──▶ journal .NAME.ring in the files' folder
//
// It deletes only files in the journal whose inode is still the same. Ages are counted in recorded time, so
// that a clock change deletes nothing. Internal to core/media; belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/media/output/files/output_file.hpp"

namespace lensd {

class FileRing {
 public:
  struct Limits {
    int64_t duration_ns = 0;  ///< delete files with this much newer footage; 0: no limit
    int64_t bytes = 0;        ///< delete the oldest while the sum is larger; 0: no limit
    bool any() const noexcept { return duration_ns > 0 || bytes > 0; }
  };

  /// `path`: the path or template of the files. Reads the journal. If the journal cannot be written, only
  /// files of this object are deleted.
  FileRing(const std::string& path, Limits limits);
  ~FileRing();
  FileRing(const FileRing&) = delete;
  FileRing& operator=(const FileRing&) = delete;

  /// A new file; it is not deleted before closed().
  void opened(const std::string& path, const OutputFile::Identity& identity);
  /// The file is complete: older ones may be deleted.
  void closed(const std::string& path, const OutputFile::Identity& identity, int64_t duration_ns,
              int64_t bytes);

 private:
  struct Entry {
    std::string path;
    OutputFile::Identity identity;
    int64_t duration_ns = 0, bytes = 0;
  };
  void load();
  void append(char event, const Entry& entry);
  void compact();
  void drop_old();

  const Limits limits_;
  std::string folder_, journal_;
  int fd_ = -1;
  size_t lines_ = 0;  ///< in the journal
  std::deque<Entry> entries_;
  int64_t duration_ns_ = 0, bytes_ = 0;  ///< sums of all entries
};

}  // namespace lensd
