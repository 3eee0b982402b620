// The JSON Schema (2020-12) of the configuration, generated from the declarations of keys and filters.
#pragma once

#include <string>

#include "core/graph/filter.hpp"

namespace lensd {

/// Returns the schema of the JSON equivalent of a configuration file, for editors and for programs that write
/// configurations.
std::string config_schema(const Registry& registry);

}  // namespace lensd
