// Checks whether a path still names the file that was created there. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lensd {

/// Identity of a file. File systems reuse inode numbers, so the birth time is compared, too.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  int64_t birth_ns = 0;  ///< creation time; 0: the file system does not record it
  bool operator==(const FileIdentity&) const = default;
};

struct FileState {
  FileIdentity identity;
  int64_t bytes = 0;
  bool regular = false;
  uint32_t user = 0;  ///< id of the owner
};

/// Returns the state of the file `path`. Returns nullopt, with errno set, on failure. Does not follow links.
std::optional<FileState> file_state(const std::string& path);
/// Like file_state(path), for the file `name` in the folder that is open as `folder`.
std::optional<FileState> file_state(int folder, const std::string& name);
/// Returns the state of an open file. Returns nullopt, with errno set, on failure.
std::optional<FileState> file_state(int fd);

/// Returns true if `path` is this file and not another file of the same name. The file must be open, because
/// some file systems change the inode numbers of closed files; see is_file().
bool names_file(const std::string& path, const FileIdentity& identity);

/// Returns true if the file `state` at the recorded path is the recorded file, whose size is `bytes` if it is
/// known. exFAT, vfat, sshfs and others assign inode numbers when an inode enters the kernel's cache, so that
/// the numbers of closed files change. There, name, birth time and size identify a file.
bool is_file(const FileState& state, const FileIdentity& identity, std::optional<int64_t> bytes);

/// Returns true if the inode numbers of closed files can change on the file system of `folder`.
bool has_changing_inodes(const std::string& folder);

}  // namespace lensd
