// Marks files that lensd wrote, in the extended attribute "user.lensd". The mark shows that lensd may replace
// the file. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace lensd {

/// Marks the file as written by lensd. `kind`: at most 15 bytes, such as "trace". Returns false if the mark
/// cannot be set, for example because the file system has no extended attributes.
bool mark_file(int fd, std::string_view kind);

/// Returns the file's mark; empty if it has none.
std::string file_mark(int fd);

}  // namespace lensd
