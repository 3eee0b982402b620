// Keeps the outputs of a run from replacing the source and existing files.
#pragma once

#include <string>
#include <vector>

#include "core/base/whole_file.hpp"

namespace lensd {

struct CommandLine;

/// Returns true for names of open files, such as /dev/stdout. The shell has already opened or truncated them.
bool opened_by_shell(const std::string& path);

/// Throws Error(usage) if `path` is a file of the source, even under another name, such as a link. The files
/// of a sequence are its images; the file of standard input is the redirected file. `writer`: name of the
/// option or command for the message.
void refuse_source_file(const std::string& path, const std::string& writer, const std::string& source);

/// Throws Error(usage) if an output file in `line` is a file of one of `sources`, or the file of another
/// output. Call before a source is opened. Does not search folders; call expand_sources() first.
void check_output_files(const CommandLine& line, const std::vector<std::string>& sources);

/// Throws Error(usage) if a run without --overwrite would replace an existing file. Recordings outside of
/// batch runs get the next free number instead. The viewer and the daemon continue a playlist that an earlier
/// run left. The daemon also replaces the files of mark_result().
void check_existing_files(const CommandLine& line);

/// Throws Error(usage) if the daemon would replace an existing file with --timings or --trace, unless
/// mark_result() has marked it.
void check_result_files(const CommandLine& line);

/// Returns whether the run may replace the file `path`, the value of `option`. Existing::keep protects a file
/// that another program makes after check_existing_files().
Existing existing_rule(const CommandLine& line, const char* option, const std::string& path);

/// Returns the first missing file of an image sequence if there are later files, else an empty string.
/// Playback ends before the missing file.
std::string first_gap(const std::string& source);

/// Marks the file that was written for `option`, --timings or --trace, so that the next run of the daemon may
/// replace it.
void mark_result(const std::string& path, const char* option);

}  // namespace lensd
