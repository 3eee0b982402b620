// toml++ without exceptions and without assertions, which would abort debug builds on text that the parser
// rejects.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace lensd {

/// Parses untrusted text with toml::parse(). Refuses values, and parts of a dotted key, that nest deeper than
/// kMaxConfigDepth: toml++ uses a stack frame for each level.
toml::parse_result parse_toml(std::string_view text, std::string_view name);

}  // namespace lensd
