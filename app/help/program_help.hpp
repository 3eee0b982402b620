// The commands and options of the program as values, read from the command-line parser.
//
//   parser ── program_help() ──▶ ProgramHelp ──▶ manual_page()   `lensd manual`, lensd.1
//                                            └─▶ complete()      `lensd __complete`
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lensd {

/// The group of --help and --version.
inline constexpr const char* kInformationGroup = "Information";

struct OptionHelp {
  std::vector<std::string> names;  ///< such as "-o" and "--output"; or the name of a positional argument
  std::string value;               ///< name of the value, such as "FILE"; empty: a flag
  std::string group, doc;
  std::vector<std::string> choices;  ///< allowed values; empty: not limited to a list
  bool positional = false, repeats = false, required = false;

  /// Returns true if the value must be attached with '=', as in --loop-file=no.
  bool attached() const { return value.starts_with("[="); }
};

struct CommandHelp {
  std::string name, doc;  ///< the name is empty for the program itself
  std::string note;       ///< last paragraph of the footer of its --help; may be empty
  std::vector<OptionHelp> options;
  bool takes_program_options = false;  ///< also accepts the options of the program itself
  bool takes_words = false;            ///< passes all further words on, as `lensd ctl` does

  /// Returns the option with this name, or null.
  const OptionHelp* find(std::string_view option) const;
};

struct ProgramHelp {
  CommandHelp program;
  std::vector<CommandHelp> commands;

  /// Returns the command with this name, or null.
  const CommandHelp* find(std::string_view command) const;
};

/// Function that returns the allowed values of an option; empty if they are not limited to a list.
using OptionChoices = std::function<std::vector<std::string>(const CLI::Option*)>;
/// Converts the parser's declarations. Leaves out hidden options, except --version.
ProgramHelp describe(const CLI::App& app, const OptionChoices& choices);

/// Returns all commands and options of lensd.
ProgramHelp program_help();

struct ExitCodeHelp {
  std::string code;
  const char* meaning = "";
};
/// Returns the exit codes of lensd, in ascending order.
const std::vector<ExitCodeHelp>& exit_code_help();

}  // namespace lensd
