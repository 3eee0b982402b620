// Where files of the user and of the installation are, after the XDG base directory specification.
//
// Reads the environment: main thread, or before others change it.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// $XDG_CONFIG_HOME/lensd, else ~/.config/lensd; empty where neither variable says.
std::string config_folder();
/// $XDG_STATE_HOME/lensd, else ~/.local/state/lensd; empty where neither variable says.
std::string state_folder();
/// Folders with the examples that came with the program, best first: beside the program (share/lensd when
/// installed, config in a source tree), then $XDG_DATA_DIRS. Only those that exist.
std::vector<std::string> example_folders();

}  // namespace lensd
