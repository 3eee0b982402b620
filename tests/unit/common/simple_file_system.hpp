// Lets file calls fail as on a file system without links and without the flags of renameat2(), for example
// NFS.
#pragma once

namespace lensd::test {

/// True: this thread's calls of linkat() and of renameat2() with flags fail.
inline thread_local bool simple_file_system = false;

}  // namespace lensd::test
