// Protects the source, and existing files, against the outputs of a run.
#pragma once

#include <string>

namespace lensd {

struct CommandLine;

/// Throws Error(usage) if `path` is a file of the source, even under another name, such as a link. The files
/// of a sequence are its images; the file of standard input is the redirected one. `writer`: name of the
/// option or command for the message.
void refuse_source_file(const std::string& path, const std::string& writer, const std::string& source);

/// Checks all output files in `line`. Call before `source` is opened. Throws Error(usage) if an output file
/// is a file of the source, or if a batch run without --overwrite would replace an existing file.
void check_output_files(const CommandLine& line, const std::string& source);

}  // namespace lensd
