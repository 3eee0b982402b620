// Reads whole files up to a size limit, and replaces whole files atomically.
//
//   text ──▶ .NAME.PID-N in the same folder ── fsync ──▶ rename over NAME ──▶ fsync of the folder
//
// Readers of NAME see the old or the new text, never a mixture, even after a crash of the program. The new
// text is never readable for users who could not read the old one. After a loss of power this holds only for
// files written with Flush::to_disk; Flush::none omits both fsync() calls. Pipes and devices are written,
// never replaced. Thread-safe. If two writers replace one file, the later rename wins.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace lensd {

enum class Flush {
  none,     ///< the data survives the end of the program
  to_disk,  ///< the data also survives a loss of power; may take tens of milliseconds
};

enum class MissingFolders {
  make,
  refuse,  ///< for typed paths: a typo must not create folders
};

/// may_be_slow: a pipe's reader must take some bytes every 10 s. must_be_quick: the program is about to end,
/// so the reader must have taken everything after 500 ms.
enum class PipeReader : uint8_t { may_be_slow, must_be_quick };

enum class Existing : uint8_t {
  replace,
  keep,  ///< keeps files and symbolic links, including those that another program creates during the write
};

/// Replaces or creates a file and keeps an existing file's mode. Follows a symbolic link and replaces its
/// target. Throws Error(runtime_failure) with the system's reason if the file cannot be written; the old file
/// is then unchanged. With Existing::keep, throws exists_error() if there is a file of this name. Writes to a
/// pipe or device instead of replacing it; also throws if nobody reads the pipe within 500 ms, or if its
/// reader is too slow.
void write_whole_file(const std::string& path, std::span<const uint8_t> bytes, Flush flush,
                      MissingFolders folders = MissingFolders::make,
                      PipeReader reader = PipeReader::may_be_slow, Existing existing = Existing::replace);
void write_whole_file(const std::string& path, std::string_view text, Flush flush,
                      MissingFolders folders = MissingFolders::make,
                      PipeReader reader = PipeReader::may_be_slow, Existing existing = Existing::replace);

/// Returns Error(usage) for a file that exists and must not be replaced.
Error exists_error(const std::string& path);

/// Opens a file for writing. Throws exists_error() if it exists and `existing` is Existing::keep, unless it
/// is a pipe or device; Error(runtime_failure) if it cannot be opened.
std::unique_ptr<std::FILE, int (*)(std::FILE*)> open_output(const std::string& path, Existing existing);

/// Renames `from` to `to`, both relative to `folder`, unless `to` exists. On file systems that have neither
/// RENAME_NOREPLACE nor links, creates `to` first. Returns false, with errno set, on failure; EEXIST: `to`
/// exists.
bool rename_new(int folder, const std::string& from, const std::string& to);

/// Returns true for an existing pipe, device or socket. Follows links.
bool is_special_file(const std::string& path);

/// Creates a hidden file with an unused name: '.', `name` (shortened if it is long) and numbers. Its mode is
/// `mode` without the bits of the umask. `folder`: descriptor of a folder that `prefix` is relative to, or
/// AT_FDCWD. `prefix`: empty, or ends in '/'. Sets `path` to `prefix` and the file's name. Returns the file's
/// descriptor, or -1 with errno set.
int create_temporary(int folder, const std::string& prefix, const std::string& name, std::string& path,
                     mode_t mode = 0666);

/// Writes all of `bytes` to a descriptor. Continues after partial writes and EINTR. If a non-blocking
/// descriptor has no room, calls `wait` and tries again. Fails with EAGAIN if `wait` is null or returns
/// false. Returns false, with errno set, on failure.
bool write_all(int fd, std::span<const uint8_t> bytes, const std::function<bool()>& wait = nullptr);
bool write_all(int fd, std::string_view text, const std::function<bool()>& wait = nullptr);

enum class FileKind {
  any,      ///< also pipes and devices; reading fails if no data arrives for 10 s
  regular,  ///< regular files only; reading does not wait for a writer
};

/// Returns the file's bytes, or nullopt if there is no such file. Throws Error(runtime_failure) if the file
/// cannot be read, is larger than `most_bytes` or is not of kind `kind`.
std::optional<std::string> read_whole_file(const std::string& path, size_t most_bytes,
                                           FileKind kind = FileKind::any);

}  // namespace lensd
