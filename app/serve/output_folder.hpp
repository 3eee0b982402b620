// The folder in which control commands write files.
//
// openat2() resolves paths with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, so that neither ".." nor a symbolic
// link leads out of the folder.
//
// write() replaces only files that an earlier write() created with the same `kind`. Recordings, journals and
// files of other programs are never replaced. The kind is stored in the extended attribute "user.lensd". On
// file systems without extended attributes, only files written by this process can be replaced. Thread-safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/unique_fd.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {

class OutputFolder {
 public:
  /// Does not create the folder; see create(). If `folder` is empty: $STATE_DIRECTORY (systemd),
  /// $XDG_STATE_HOME/lensd, ~/.local/state/lensd or, without a home folder, /tmp/lensd-UID/captures.
  explicit OutputFolder(std::string folder);

  const std::string& path() const noexcept { return folder_; }

  /// Creates the folder once: if it is missing later, its disk may be unmounted. A call that cannot create it
  /// does not count. A folder
  /// in /tmp/lensd-UID is created at each call, because programs that clean /tmp may remove it. write() and
  /// check() call this first. Throws Error(runtime_failure) if the folder is in /tmp/lensd-UID and
  /// make_private_folder() refuses that.
  void create() const;

  /// Writes a whole file or nothing (temporary file, fsync, rename). `kind` is "snapshot" or "trace". Returns
  /// the full path. Throws Error(usage) if `relative` leaves the folder, has no valid file name, or names a
  /// hidden file or an existing file that may not be replaced; Error(runtime_failure) if the file cannot be
  /// written. Existing::keep: no existing file may be replaced.
  std::string write(const std::string& relative, std::string_view bytes, const std::string& kind,
                    Existing existing = Existing::replace) const;
  /// Writes a new file, named file_name() with a number if that name is taken. Returns the full path. Throws
  /// Error(runtime_failure) if the file cannot be written or too many names are taken.
  std::string write_new(int64_t frame, const std::string& ending, std::string_view bytes,
                        const std::string& kind) const;

  /// Returns the full path of a new file that another component will write. Throws Error(usage) if `relative`
  /// leaves the folder, has no valid file name, or names a hidden or existing file; Error(runtime_failure) if
  /// the folder cannot be opened.
  std::string check(const std::string& relative) const;
  /// Like check(), but an existing file is no error.
  void check_place(const std::string& relative) const { open_parent(relative); }

  /// Returns a name from the local time and a frame's index, for example "lensd-20260131-235959-374.png".
  static std::string file_name(int64_t frame, const std::string& ending);

 private:
  std::pair<UniqueFd, std::string> open_parent(const std::string& relative) const;
  bool is_ours(int folder, const std::string& name, const std::string& kind) const;
  void forget(int folder, const std::string& name) const;
  bool place(int folder, const std::string& temporary, const std::string& name, const std::string& kind,
             Existing existing) const;

  const std::string private_;  // the folder in /tmp above folder_; empty: folder_ is not in /tmp
  const std::string folder_;
  mutable std::atomic<bool> created_{false};
  mutable std::mutex mutex_;
  mutable std::map<std::pair<dev_t, ino_t>, std::string> written_;  // kinds of files without the attribute
};

}  // namespace lensd
