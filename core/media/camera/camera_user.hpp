// Finds the program that uses a camera, for messages.
#pragma once

#include <string>

namespace lensd {

/// Returns " (NAME, process N)" for another process that has the device `path` open; an empty string if none
/// is visible. `proc`: the folder of the processes. Does not follow the links there, because a link to a file
/// on a dead network mount would block.
std::string find_camera_user(const std::string& path, const std::string& proc = "/proc");

/// Like find_camera_user(), but caches the result for a path for 2 s. A busy camera is opened again every 250
/// ms, and the search may take tens of milliseconds. Thread-safe.
std::string camera_user(const std::string& path);

}  // namespace lensd
