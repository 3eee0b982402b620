// Folders of the user and of the installation, after the XDG base directory specification.
//
// Reads the environment. Do not call while another thread changes it.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// Returns $XDG_CONFIG_HOME/lensd, else ~/.config/lensd. Empty if neither variable has an absolute path.
std::string config_folder();
/// Returns $XDG_STATE_HOME/lensd, else ~/.local/state/lensd. Empty if neither variable has an absolute path.
std::string state_folder();
/// Returns the existing folders with the program's examples, by priority: relative to the program
/// (share/lensd if installed, config in a source tree), then in $XDG_DATA_DIRS.
std::vector<std::string> example_folders();

}  // namespace lensd
