// The text of --help.
#pragma once

#include <string>

#include "core/base/param.hpp"

namespace CLI {
class App;
}

namespace lensd {

/// Returns the text of --help for the program or a subcommand. Rows of options and subcommands are wrapped to
/// 100 columns.
std::string help_text(const CLI::App& app);

/// Returns one row of help_text(): "  head    description".
std::string help_row(const std::string& head, const std::string& description);

/// Returns a paragraph, wrapped to 100 columns, without a newline at the end.
std::string wrapped_text(const std::string& text);

/// Returns the description of an option or configuration key: its doc, allowed values and default.
std::string option_doc(const ParamSpec& spec);

}  // namespace lensd
