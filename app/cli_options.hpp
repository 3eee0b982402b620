// The options and subcommands of the command line, declared with CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <deque>
#include <functional>
#include <map>

#include "app/cli.hpp"
#include "core/config/keys.hpp"

namespace lensd {

/// Adds options to an app. --help lists an option under the heading that was set last before it was added.
class CommandLineOptions {
 public:
  CommandLineOptions(CLI::App& app, CommandLine& line, std::string group)
      : app_(app), line_(line), group_(std::move(group)) {}
  void group(std::string heading) { group_ = std::move(heading); }

  /// Adds an option that sets configuration key `key`. `value`: placeholder in --help. `doc` replaces the doc
  /// of the key.
  void key(const char* names, const char* value, const char* key, const char* doc = nullptr);
  /// Adds an option for the CommandLine member that `schema` declares.
  void member(const char* names, const char* value, const Schema<CommandLine>& schema) {
    param(names, value, schema.build().params.front(), &line_);
  }
  template <class T>
  CLI::Option* plain(const char* names, const char* value, T& target, const char* doc) {
    return finish(app_.add_option(names, target, doc), value);
  }
  void flag(const char* names, bool& target, const char* doc) {
    finish_flag(app_.add_flag(names, target, doc));
  }
  void flag(const char* names, std::function<void(int64_t count)> take, const char* doc) {
    finish_flag(app_.add_flag_function(names, std::move(take), doc));
  }
  CLI::Option* custom(const char* names, const char* value, std::function<void(const std::string&)> take,
                      const char* doc);

  /// Names a custom() option that sets `key`, for name_of().
  void sets(const char* key, const char* option) { option_names_.emplace(key, option); }

  /// Returns the name of the option for `key`, or `key` if there is none. For messages.
  std::string name_of(const std::string& key) const {
    const auto found = option_names_.find(key);
    return found == option_names_.end() ? key : found->second;
  }
  /// Returns the allowed values of an option that key() or member() added. Returns an empty list if the
  /// values are not limited to a list, and for options that other functions added.
  std::vector<std::string> choices(const CLI::Option* option) const {
    const auto found = choices_.find(option);
    return found == choices_.end() ? std::vector<std::string>() : found->second;
  }

 private:
  CLI::Option* finish_flag(CLI::Option* option);
  CLI::Option* param(const char* names, const char* value, ParamSpec own, void* target);
  CLI::Option* finish(CLI::Option* option, const char* value = "") {
    return option->type_name(value)->group(group_);
  }

  CLI::App& app_;
  CommandLine& line_;
  std::string group_;
  std::deque<ParamSpec> specs_;
  std::map<std::string, std::string> option_names_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
};

/// The parser with all options. The options write to `line`, which must outlive the parser.
struct CommandLineParser {
  explicit CommandLineParser(CommandLine& line);
  CommandLineParser(const CommandLineParser&) = delete;

  CLI::App app{"Watch and tune a video filter graph, live.", "lensd"};
  CommandLineOptions options;
  std::deque<CommandLineOptions> of_subcommands;
};

}  // namespace lensd
