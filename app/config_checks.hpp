// Checks configuration values with other parts of the program, for example encoders, receivers and the HTTP
// server.
#pragma once

#include "core/config/config.hpp"

namespace lensd {

/// Returns the problems of the values in `config`. Pass this function to set_config_check().
std::vector<ConfigProblem> config_problems(const Config& config);

}  // namespace lensd
