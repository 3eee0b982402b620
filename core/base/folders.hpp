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
/// Creates the folder `path` for this user only, for example in /tmp, where everybody may create folders.
/// Accepts an existing one if it is no link, belongs to this user, and nobody else may write to it. Returns
/// false, with errno set, on failure; EPERM: the existing one is not accepted.
bool make_private_folder(const std::string& path);
/// Returns the existing folders with example graphs, by priority: share/lensd (installed) and config (source
/// tree) next to the program's folder, then the folder "lensd" in each of $XDG_DATA_DIRS.
std::vector<std::string> example_folders();

}  // namespace lensd
