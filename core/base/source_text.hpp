// The name of a source as people give it: pasted from a terminal or a file manager, typed by hand.
//
// Plain functions; they read $HOME and touch no file.
#pragma once

#include <optional>
#include <string>

namespace lensd {

/// Without what copying leaves around a name: spaces, line ends, a pair of quotes; file:// addresses become
/// paths, ~ the home folder. Of several lines the first.
std::string tidy_source(const std::string& text);

/// False for addresses and devices: "rtsp://…", "test:…", "screen:", "v4l2:…", "-".
bool may_be_path(const std::string& text);

/// A path that is being typed: the folder that it is in so far, with its last slash, and the rest.
struct TypedPath {
  std::string folder;  ///< empty: none was typed
  std::string part;
};
/// Nothing for what is no path. `text` is tidied, but a slash or a space at its end counts.
std::optional<TypedPath> typed_path(const std::string& text);

/// With ~ for the home folder.
std::string shown_path(const std::string& path);

/// The last part of a path; addresses stay whole, without user name, password and query.
std::string brief_source(const std::string& url);

}  // namespace lensd
