#include "app/cli_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace lensd {
namespace {

constexpr size_t kWidth = 100, kColumn = 30;  // width of the text and column of descriptions, in characters

size_t characters(const std::string& utf8) {
  return static_cast<size_t>(
      std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Wraps `text` to kWidth. `head` starts the first line; the text starts at `column` of every line. A head
/// that is too long gets a separate line.
std::string wrapped(const std::string& head, size_t column, const std::string& text) {
  const bool fits = characters(head) + 2 <= column;
  std::string out = fits ? "" : head + "\n", line = fmt::format("{:<{}}", fits ? head : "", column);
  std::istringstream words(text);
  for (std::string word; words >> word; line += word) {
    if (characters(line) == column) continue;
    if (characters(line + word) < kWidth) {
      line += ' ';
    } else {
      out += line + "\n";
      line.assign(column, ' ');
    }
  }
  return out + line + "\n";
}

/// Returns an option's names and value, such as "-o, --output FILE".
std::string head_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string value = option.get_type_name();
  const bool attached = value.empty() || value.starts_with("[=");
  return fmt::format("{}{}{}", fmt::join(names, ", "), attached ? "" : " ", value);
}

/// Returns the arguments of a command: " [SOURCE] [FILES]...".
std::string arguments(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      text += fmt::format(fmt::runtime(option->get_required() ? " {}{}" : " [{}]{}"), option->get_name(true),
                          option->get_expected_max() > 1 ? "..." : "");
  return text.empty() && app.get_fallthrough() ? " [SOURCE]" : text;
}

std::string usage(const CLI::App& app) {
  std::string line = app.get_parent() ? app.get_parent()->get_name() + " " : "";
  line += app.get_name() + " [OPTIONS]" + arguments(app);
  if (app.get_prefix_command()) line += " COMMAND [ARGUMENT]...";
  std::string text = "Usage: " + line + "\n";
  if (!app.get_subcommands({}).empty())
    text += fmt::format("       {0} COMMAND [OPTIONS]   ({0} COMMAND --help describes a command)\n",
                        app.get_name());
  return text;
}

}  // namespace

std::string option_doc(const ParamSpec& spec) {
  std::vector<std::string> notes;
  const std::string allowed = spec.allowed();
  for (const std::string prefix : {"one of ", "a whole number ", "a number "})
    if (allowed.starts_with(prefix)) notes.push_back(allowed.substr(prefix.size()));
  ParamValue ignored;
  const std::string value = to_string(spec.default_value);
  if (spec.type != ParamType::boolean && !value.empty() && !spec.check(spec.default_value, ignored))
    notes.push_back("default: " + value);
  return notes.empty() ? spec.doc : fmt::format("{} ({})", spec.doc, fmt::join(notes, "; "));
}

std::string help_row(const std::string& head, const std::string& description) {
  return wrapped("  " + head, kColumn, description);
}

std::string wrapped_text(const std::string& text) {
  const std::string out = wrapped("", 0, text);  // begins with a line for the empty head
  return out.substr(1, out.size() - 2);
}

std::string help_text(const CLI::App& app) {
  std::string text = usage(app) + "\n" + app.get_description() + "\n";
  const std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::Option* option : options)
    if (option->get_positional())
      text += "\n" +
              wrapped(option->get_name(true), option->get_name(true).size() + 2, option->get_description());
  if (const auto commands = app.get_subcommands({}); !commands.empty()) {
    text += "\nCommands\n";
    for (const CLI::App* command : commands)
      text += help_row(command->get_name(), command->get_description());
  }
  std::string group;
  for (const CLI::Option* option : options) {
    const bool hidden = option->get_group().empty() || option == app.get_help_ptr();
    if (option->get_positional() || hidden) continue;
    if (option->get_group() != group) text += "\n" + (group = option->get_group()) + "\n";
    text += help_row(head_of(*option), option->get_description());
  }
  if (!app.get_footer().empty()) text += "\n" + app.get_footer() + "\n";
  return text;
}

}  // namespace lensd
