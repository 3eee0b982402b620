// The newest files of a recording are kept, the oldest deleted: over its segments, over recordings of the
// same name, and over restarts of the program.
//
//   Segments ── opened(), closed() ──▶ FileRing ──▶ journal .NAME.ring in the files' folder
//
// Only files that stand in the journal, and are still those files, are ever deleted. Ages are footage, not
// the clock: a clock that jumps deletes nothing. Internal to core/media; belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/media/output/files/output_file.hpp"

namespace lensd {

class FileRing {
 public:
  struct Limits {
    int64_t duration_ns = 0;  ///< files with so much newer footage go; 0: none does
    int64_t bytes = 0;        ///< the oldest go while all together are larger; 0: any size
    bool any() const noexcept { return duration_ns > 0 || bytes > 0; }
  };

  /// `name`: the path or template of the files, below `folder` where that is not empty. Takes over what the
  /// journal knows. Without a journal that can be written, what this object is told is all that it deletes.
  FileRing(const std::string& name, const std::string& folder, Limits limits);
  ~FileRing();
  FileRing(const FileRing&) = delete;
  FileRing& operator=(const FileRing&) = delete;

  /// A file is being written; it is not deleted before it is closed.
  void opened(const std::string& path, const OutputFile::Identity& identity);
  /// It is complete; older ones may go now.
  void closed(const std::string& path, const OutputFile::Identity& identity, int64_t duration_ns,
              int64_t bytes);

 private:
  struct Entry {
    std::string path;
    OutputFile::Identity identity;
    int64_t duration_ns = 0, bytes = 0;
  };
  void load();
  void append(char what, const Entry& entry);
  void compact();
  void add(Entry entry);
  void drop_old();

  const Limits limits_;
  std::string folder_, journal_;
  int fd_ = -1;
  size_t lines_ = 0;  ///< of the journal
  std::deque<Entry> entries_;
  int64_t duration_ns_ = 0, bytes_ = 0;  ///< of all entries
};

}  // namespace lensd
