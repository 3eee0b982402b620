// toml++ without exceptions and without assertions. Its assertions would abort debug builds on text that the
// parser rejects.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace lensd {

/// Parses untrusted text with toml::parse(). Returns an error if values or dotted keys nest deeper than
/// kMaxConfigDepth, because toml++ uses a stack frame for each level. `name`: file name for messages.
toml::parse_result parse_toml(std::string_view text, std::string_view name);

}  // namespace lensd
