// Checks and repairs UTF-8 text, because file names may contain any bytes, but TOML and JSON are UTF-8.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace lensd {

/// Returns true if `text` is valid UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);

/// Returns `text` with U+FFFD instead of each byte that is not part of a valid UTF-8 character.
std::string as_utf8(std::string_view text);

}  // namespace lensd
