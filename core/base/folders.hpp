// Folders for configuration, state and examples, as in the XDG base directory specification.
//
// The functions read environment variables. Do not call them while another thread changes the environment.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// Returns the value of an environment variable such as HOME if it is an absolute path, else "". The XDG
/// specification says to ignore relative paths.
std::string folder_in(const char* variable);
/// Returns $XDG_CONFIG_HOME/lensd, else $HOME/.config/lensd. Empty if neither variable is an absolute path.
std::string config_folder();
/// Returns $XDG_STATE_HOME/lensd, else $HOME/.local/state/lensd. Empty if neither variable is an absolute
/// path.
std::string state_folder();
/// Returns the folder for files that a run keeps, such as captures: $STATE_DIRECTORY (set by systemd), else
/// state_folder().
std::string run_state_folder();
/// Returns /tmp/lensd-UID, for users without such folders. Any user can create this path, so create it with
/// make_private_folder().
std::string private_tmp_folder();
/// Creates the folder `path` for this user only. Accepts an existing folder that is not a link, belongs to
/// this user, and is not writable for anyone else. Returns false, with errno set, on failure. EPERM means
/// that an existing folder is not accepted.
bool make_private_folder(const std::string& path);
/// Returns the existing folders with example graphs, by priority: share/lensd (installed) and config (source
/// tree) next to the program's folder, then the folder "lensd" in each of $XDG_DATA_DIRS.
std::vector<std::string> example_folders();

}  // namespace lensd
