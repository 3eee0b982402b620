// Writes the results of a run, such as timings and traces, to files and pipes.
#pragma once

#include <cstdint>
#include <string>

namespace lensd {

/// must_be_quick: the program ends, so a pipe's reader must have taken everything after 500 ms.
enum class PipeReader : uint8_t { may_be_slow, must_be_quick };

/// Writes a file, or to a pipe. Throws Error(runtime_failure) if it cannot be written, if nobody reads the
/// pipe within 500 ms, or if its reader is too slow.
void write_text(const std::string& path, const std::string& text,
                PipeReader reader = PipeReader::may_be_slow);

}  // namespace lensd
