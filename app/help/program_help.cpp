#include "app/help/program_help.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/contains.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

OptionHelp describe_option(const CLI::Option& option, const OptionChoices& choices) {
  OptionHelp help;
  help.positional = option.get_positional();
  if (help.positional) {
    help.names.push_back(option.get_name(true));
    help.repeats = option.get_expected_max() > 1;
    help.required = option.get_required();
  }
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  help.value = help.positional ? help.names.front() : option.get_type_name();
  help.group = option.get_group(), help.doc = option.get_description();
  help.choices = choices(&option);
  return help;
}

CommandHelp describe_command(const CLI::App& app, const OptionChoices& choices) {
  CommandHelp help;
  help.doc = app.get_description();
  help.takes_program_options = app.get_fallthrough();
  help.takes_words = app.get_prefix_command();
  const std::string footer = app.get_footer();
  const size_t paragraph = footer.rfind("\n\n");
  help.note = paragraph == std::string::npos ? footer : footer.substr(paragraph + 2);
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty() || option == app.get_version_ptr())
      help.options.push_back(describe_option(*option, choices));
  for (const char* name : {"--help", "--version"})
    for (OptionHelp& option : help.options)
      if (option.names.back() == name) option.group = kInformationGroup;
  std::stable_partition(help.options.begin(), help.options.end(),
                        [](const OptionHelp& option) { return option.group != kInformationGroup; });
  return help;
}

}  // namespace

const OptionHelp* CommandHelp::find(std::string_view option) const {
  for (const OptionHelp& one : options)
    if (contains(one.names, option)) return &one;
  return nullptr;
}

const CommandHelp* ProgramHelp::find(std::string_view command) const {
  for (const CommandHelp& one : commands)
    if (one.name == command) return &one;
  return nullptr;
}

ProgramHelp describe(const CLI::App& app, const OptionChoices& choices) {
  ProgramHelp help;
  help.program = describe_command(app, choices);
  for (const CLI::App* command : app.get_subcommands({})) {
    help.commands.push_back(describe_command(*command, choices));
    help.commands.back().name = command->get_name();
  }
  return help;
}

const std::vector<ExitCodeHelp>& exit_code_help() {
  const auto code = [](ExitCode one) { return std::to_string(static_cast<int>(one)); };
  static const std::vector<ExitCodeHelp> codes{
      {code(ExitCode::done), "done"},
      {code(ExitCode::runtime_failure), "run-time failure"},
      {code(ExitCode::usage), "usage"},
      {code(ExitCode::invalid_config), "invalid config or graph"},
      {code(ExitCode::bad_source), "source cannot be opened or decoded"},
      {code(ExitCode::unavailable), "backend or display not available"},
      {"130 or 143", "Ctrl+C or TERM ended a headless run; its files are complete up to that point"}};
  return codes;
}

}  // namespace lensd
