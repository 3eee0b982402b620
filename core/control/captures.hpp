// Files that control may write: below one folder, whatever the path says.
//
// Paths are resolved by openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: neither ".." nor a link leads
// out. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lensd {

class Captures {
 public:
  /// `folder` is made when it is first needed; empty: $STATE_DIRECTORY (systemd), $XDG_STATE_HOME/lensd or
  /// ~/.local/state/lensd.
  explicit Captures(std::string folder);

  const std::string& folder() const noexcept { return folder_; }

  /// Writes a file whole or not at all (temporary file, fsync, rename). Gives back its full path. Throws
  /// Error(usage) for a path that leads out or names no file, Error(runtime_failure) when it cannot be
  /// written.
  std::string write(const std::string& relative, std::span<const uint8_t> bytes) const;

  /// The full path of a file to be written by others; its folder was checked just now. Throws as write().
  std::string checked(const std::string& relative) const;

  /// "lensd-20260131-235959-374.png": from the time of day and a frame's index.
  static std::string file_name(int64_t frame, const std::string& ending);

 private:
  std::string folder_;
};

}  // namespace lensd
