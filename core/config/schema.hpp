// The JSON Schema (2020-12) of the configuration, made from the declarations of keys and filters.
#pragma once

#include <string>

#include "core/graph/filter.hpp"

namespace lensd {

/// Describes a TOML file as its JSON equivalent: for editors and for programs that write configurations.
std::string config_schema(const Registry& registry);

}  // namespace lensd
