// Formats parsed TOML. toml++ writes some strings with control characters in a form that its parser refuses.
// Thread-safe.
#pragma once

#include <string>

#include "core/config/toml.hpp"

namespace lensd {

/// Returns the tables of `root` with their headers, in its order. toml++ can parse every string of the
/// result, including line breaks and control characters.
std::string toml_tables(const toml::table& root);

}  // namespace lensd
