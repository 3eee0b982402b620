// Checks configuration values that depend on other parts of the program: encoders, file types, receivers.
#pragma once

#include "core/config/config.hpp"

namespace lensd {

/// Returns all problems of the values in `config`. Pass to set_config_check().
std::vector<ConfigProblem> config_problems(const Config& config);

}  // namespace lensd
