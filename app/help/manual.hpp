// The manual page lensd(1), made from the declarations of commands, options, configuration keys, control
// commands, filters and keys.
#pragma once

#include <string>

#include "app/help/program_help.hpp"
#include "core/graph/filter.hpp"

namespace lensd {

/// Returns the page in the man macros of troff, in UTF-8.
std::string manual_page(const ProgramHelp& help, const Registry& registry);

struct VariableHelp {
  const char* name;
  const char* doc;
};
/// Returns the environment variables that lensd reads, except those of single configuration keys.
const std::vector<VariableHelp>& variable_help();

}  // namespace lensd
