// Whole files: read with a limit, replaced in one step.
//
//   text ──▶ .NAME.PID-N in the same folder ── fsync ──▶ rename over NAME ──▶ fsync of the folder
//
// Whoever reads NAME, or is killed at any instant, sees the old text or the new one and nothing between.
// Any thread; two writers of one file do not harm it: the later rename wins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lensd {

enum class Flush {
  none,     ///< survives the end of the program
  to_disk,  ///< survives loss of power as well; may take tens of milliseconds
};

enum class MissingFolders {
  make,
  refuse,  ///< for paths that a person typed: a slip of the pen makes no folders
};

/// Replaces or creates a file; a symbolic link stays and what it points to is replaced. An existing file's
/// mode is kept. Throws Error(runtime_failure) with the system's reason; the old file is untouched then.
void write_whole_file(const std::string& path, std::span<const uint8_t> bytes, Flush flush,
                      MissingFolders folders = MissingFolders::make);
void write_whole_file(const std::string& path, std::string_view text, Flush flush,
                      MissingFolders folders = MissingFolders::make);

/// Writes all of `bytes` to a descriptor, however many steps and interruptions it takes; false with errno set
/// when the system refuses.
bool write_all(int fd, std::span<const uint8_t> bytes);

/// The file's bytes; empty when there is no such file. Throws Error(runtime_failure) when it cannot be read
/// or is larger than `most_bytes`.
std::optional<std::string> read_whole_file(const std::string& path, size_t most_bytes);

}  // namespace lensd
