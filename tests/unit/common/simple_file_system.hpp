// Lets file calls fail as on a file system without links, extended attributes and the flags of renameat2(),
// for example NFS.
#pragma once

namespace lensd::test {

/// True: this thread's calls of linkat(), fsetxattr() and of renameat2() with flags fail.
inline thread_local bool simple_file_system = false;

}  // namespace lensd::test
