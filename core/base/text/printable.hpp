// Makes text from outside, such as file names, addresses and server replies, safe for logs, terminals and the
// service manager. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace lensd {

enum class Lines : bool {
  join,  ///< one line: a line break becomes a space
  keep,
};

/// Returns `text` as valid UTF-8 with a space instead of each character that controls a terminal or the
/// direction of the text: C0 (except tabs), DEL, C1, line separators and marks of bidirectional text.
std::string printable(std::string_view text, Lines lines = Lines::join);

}  // namespace lensd
