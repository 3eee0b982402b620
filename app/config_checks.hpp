// Values of the configuration that only parts of the program can judge: encoders, file types, receivers.
#pragma once

#include "core/config/config.hpp"

namespace lensd {

/// For set_config_check().
std::vector<ConfigProblem> config_problems(const Config& config);

}  // namespace lensd
