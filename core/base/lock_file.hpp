// Lock files: empty files, or journals, on which one process holds a lock with flock(). Everyone who can open
// such a file can lock it forever. Therefore new files have mode 0600, and is_trusted_lock() checks older
// ones. Thread-safe.
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

/// Opens the lock file `path` for reading and writing, or creates it with mode 0600. Does not follow links
/// and does not lock the file. Returns an empty UniqueFd, with errno set, on failure. EPERM means that the
/// file is not trusted (see is_trusted_lock()).
UniqueFd open_lock_file(const std::string& path);

/// Returns true if the file `path` belongs to this user or to a user who may delete it anyway: root or the
/// owner of its folder. Network file systems may report the folder's owner as the owner of new files.
bool is_trusted_owner(const struct stat& file, const std::string& path);

/// Returns true for a regular file that belongs to a trusted owner or a trusted group. The group is trusted
/// if it is the folder's group and can write to the folder, and others can neither write to the folder nor
/// open the file.
bool is_trusted_lock(int fd, const std::string& path);

}  // namespace lensd
