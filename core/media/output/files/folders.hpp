// Folders of recorded files. Internal to core/media. Thread-safe.
#pragma once

#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

/// Opens `path`. If `beneath` is not empty, the path is relative to that folder, may not leave it and may not
/// contain symbolic links. Returns an empty UniqueFd, with errno set, on failure.
UniqueFd open_path(const std::string& beneath, const std::string& path, int flags);

/// Creates the missing folders of the file `path` that are below the folder `base`, which must exist. Both
/// are paths as for open_path(). Returns 0 or an errno value.
int make_folders(const std::string& beneath, const std::string& base, const std::string& path);

/// Opens the folder of `path`, which must be below the folder `base`. Follows the links in `base`, but none
/// after it. Returns an empty UniqueFd, with errno set, on failure.
UniqueFd open_folder_of(const std::string& base, const std::string& path);

/// Returns the first folder of `path` after `base` that is a symbolic link. Returns an empty string if there
/// is none.
std::string linked_folder(const std::string& base, const std::string& path);

/// Removes the folders of the file `path`, from the innermost one up to but without `base`, while they are
/// empty. Follows no link after `base`.
void remove_empty_folders(const std::string& base, const std::string& path);

/// Returns `path` relative to `folder`, by its text only. Returns an empty string if it is not below.
std::string path_below(const std::string& folder, const std::string& path);

}  // namespace lensd
