// Protects the source, and existing files, against the outputs of a run.
#pragma once

#include <string>

namespace lensd {

struct CommandLine;

/// Throws Error(usage) if `path` is a file of the source under any name: another spelling, a link, one image
/// of a sequence, the file on standard input. `writer` names the option or command in the message.
void refuse_source_file(const std::string& path, const std::string& writer, const std::string& source);

/// Checks all files that the options of `line` name; call it before `source` is opened. Throws Error(usage)
/// if one of them is a file of the source or, in a batch run without --overwrite, exists.
void check_output_files(const CommandLine& line, const std::string& source);

}  // namespace lensd
