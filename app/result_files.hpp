// Writes the results of a run, such as timings and traces, to files and pipes.
#pragma once

#include <string>

#include "core/base/whole_file.hpp"

namespace lensd {

/// Writes a file, or to a pipe or device as write_special_file() does. Throws Error(runtime_failure) if it
/// cannot be written.
void write_text(const std::string& path, const std::string& text,
                PipeReader reader = PipeReader::may_be_slow);

}  // namespace lensd
