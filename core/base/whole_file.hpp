// Whole files: read with a limit, replaced in one step.
//
//   text ──▶ .NAME.XXXXXX in the same folder ── fsync ──▶ rename over NAME ──▶ fsync of the folder
//
// Whoever reads NAME, or is killed at any instant, sees the old text or the new one and nothing between.
// Any thread; two writers of one file do not harm it: the later rename wins.
#pragma once

#include <optional>
#include <string>

namespace lensd {

enum class Flush {
  none,     ///< survives the end of the program
  to_disk,  ///< survives loss of power as well; may take tens of milliseconds
};

/// Replaces or creates a file; a symbolic link stays and what it points to is replaced. Folders that are
/// missing are made. Mode and the rest of an existing file's permissions are kept. Throws
/// Error(runtime_failure) with the system's reason; the old file is untouched then.
void write_whole_file(const std::string& path, const std::string& text, Flush flush);

/// The file's bytes; empty when there is no such file. Throws Error(runtime_failure) when it cannot be read
/// or is larger than `most_bytes`.
std::optional<std::string> read_whole_file(const std::string& path, size_t most_bytes);

}  // namespace lensd
