// The manual page lensd(1), generated from the program's tables, for example of options, configuration keys
// and filters.
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
/// Returns the environment variables that lensd reads. LENSD_TABLE_KEY stands for the variables of all
/// configuration keys.
const std::vector<VariableHelp>& variable_help();

}  // namespace lensd
