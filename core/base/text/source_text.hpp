// Parses and shortens names of sources that users type, or paste from a terminal or file manager.
//
// The functions read $HOME and have no side effects.
#pragma once

#include <optional>
#include <string>

namespace lensd {

/// Returns the path of "file:///a/b", "file:/a/b" or "file://localhost/a/b", percent-decoded. Returns other
/// text unchanged, including addresses of files on other hosts.
std::string without_file_scheme(const std::string& text);

/// Returns the file:// address of an absolute path: without_file_scheme(file_address(path)) == path.
std::string file_address(const std::string& path);

/// Returns the first line of `text` that is not blank, without surrounding spaces and quotes. Converts
/// file:// addresses to paths, and a leading ~ to the home folder.
std::string tidy_source(const std::string& text);

/// Returns false for addresses, devices and standard input: "rtsp://…", "test:…", "screen:", "v4l2:…", "-".
bool may_be_path(const std::string& text);

/// Returns the absolute path of a file, without "." and "..". Does not access the file. Returns "" if
/// `source` is not a path.
std::string absolute_path(const std::string& source);

/// An incomplete path, split after its last slash.
struct TypedPath {
  std::string folder;  ///< text up to and including the last slash; empty if there is none
  std::string part;    ///< text after the last slash
};
/// Splits a path that is being typed. Removes leading spaces and surrounding quotes, and converts file://
/// addresses and ~ like tidy_source(). Returns nullopt if may_be_path() returns false for the result.
std::optional<TypedPath> typed_path(const std::string& text);

/// Replaces the home folder at the start of `path` with ~.
std::string shown_path(const std::string& path);

/// Returns a short name: the last part of a path, an address without login, query and fragment, or a test
/// source without its options.
std::string brief_source(const std::string& url);

}  // namespace lensd
