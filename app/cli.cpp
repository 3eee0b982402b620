#include "app/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli_help.hpp"
#include "app/cli_options.hpp"
#include "app/commands/track_file.hpp"
#include "app/help/program_help.hpp"
#include "app/reports.hpp"
#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/base/text/suggest.hpp"

namespace lensd {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Returns a hint for an unknown option: a similar option, the path of a file of this name, or a reference to
/// --help.
std::string option_hint(CLI::App& app) {
  std::vector<std::string> known, unknown = app.remaining(true);
  std::vector<const CLI::App*> apps{&app};
  for (const CLI::App* command : app.get_subcommands()) apps.push_back(command);
  for (const CLI::App* one : apps)
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : unknown) {
    std::error_code ignored;
    if (word.starts_with('-') && std::filesystem::exists(word, ignored))
      return fmt::format("for the file of this name: ./{}", word);
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (contains(known, name))  // known, but not after this command
      return fmt::format("lensd {} --help lists its options", apps.back()->get_name());
    if (const std::string text = did_you_mean(name, known); !text.empty()) return text;
  }
  return "see lensd --help";
}

/// Applies the last one of the options that set the log level. CLI11 applies options in the order of their
/// declaration.
void apply_last_level(const CLI::App& app) {
  CLI::Option* last = nullptr;
  for (CLI::Option* option : app.parse_order())
    for (const char* name : {"--msg-level", "-v", "-q"})
      if (option->get_name() == name) last = option;
  if (last) last->run_callback();
}

/// Throws Error(usage) if the source is probably a mistyped command: a plain word that is not a file and
/// resembles a command.
void refuse_mistyped_command(const CLI::App& app, const Config& config) {
  const std::string& source = config.source_url;
  std::error_code ignored;
  if (source.find_first_of("/.:-") != std::string::npos || std::filesystem::exists(source, ignored)) return;
  if (source == "help")
    throw Error(ExitCode::usage, source, "there is no such command or file",
                "use lensd --help or lensd COMMAND --help");
  if (const std::string hint = did_you_mean(source, command_names(app)); !hint.empty())
    throw Error(ExitCode::usage, source, "there is no such command or file", hint);
}

constexpr const char* kServe = "lensd serve";

void refuse(bool given, const std::string& option, const std::string& with, const char* instead) {
  if (given) throw Error(ExitCode::usage, option, fmt::format("cannot be used with {}", with), instead);
}

/// Returns the option that makes the run one without a window.
const char* batch_option(const CommandLine& line) {
  if (line.headless) return "--headless";
  if (!line.framehash.empty()) return "--framehash";
  return line.tracks.empty() ? "--output" : "--tracks";
}

/// Options that have no effect in some run modes.
struct ModeOption {
  const char* name;
  const char* without_window;  ///< hint for a run without a window; null: the option has an effect in it
  const char* serve;           ///< hint for lensd serve; null: the option has an effect in it
};

constexpr const char *kNoWindow = "leave it out", *kNoSound = "only the window plays sound",
                     *kNoBatch = "only the window and lensd serve take it";

constexpr ModeOption kModeOptions[] = {
    {"--volume", kNoSound, kNoSound},
    {"--mute", kNoSound, kNoSound},
    {"--fullscreen", kNoWindow, kNoWindow},
    {"--keep-screen-on", kNoWindow, kNoWindow},
    {"--screenshot-template", kNoWindow, "name the file in lensd ctl snapshot"},
    {"--screenshot-directory", kNoWindow, "set [control] folder"},
    {"--no-resume", "files are read from their start", "files are played from their start"},
    {"--trace-on", "write the last seconds with --trace FILE", "use lensd ctl trace"},
    {"--socket", kNoBatch, nullptr},
    {"--http", kNoBatch, nullptr},
    {"--headless", nullptr, "it never opens a window"},
};

bool is_given(const CLI::App& app, const std::string& option) {
  return app.get_option(option)->count() > 0;
}

/// Throws Error(usage) for options that have no effect in the run mode.
void refuse_options_without_effect(const CLI::App& app, const CommandLine& line) {
  const bool serve = line.mode == RunMode::serve;
  if (!serve && line.mode != RunMode::batch) return;
  for (const ModeOption& option : kModeOptions)
    if (const char* hint = serve ? option.serve : option.without_window)
      refuse(is_given(app, option.name), option.name, serve ? kServe : batch_option(line), hint);
}

/// Throws Error(usage) for options before a subcommand that does not use them, as in
/// "lensd --socket PATH ctl pause". Levels of messages are accepted everywhere.
void refuse_options_of_other_commands(const CLI::App& app, RunMode mode) {
  const bool bench = mode == RunMode::bench;
  if (!bench && mode != RunMode::ctl && mode != RunMode::filters && mode != RunMode::check &&
      mode != RunMode::completion && mode != RunMode::manual)
    return;
  const std::string command = app.get_subcommands().front()->get_name();
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name == "-v" || name == "-q" || name == "--msg-level") continue;
    if (option->count() == 0 || (bench && (name == "--backend" || name == "--device" || name == "--threads")))
      continue;
    throw Error(ExitCode::usage, name, fmt::format("cannot be used with lensd {}", command),
                fmt::format("lensd {} --help lists its options", command));
  }
}

/// Throws Error(usage) for options that need the end of a run or write all frames to one file, because a
/// daemon runs until it is stopped.
void refuse_batch_options(const CommandLine& line) {
  refuse(!line.output.empty(), "--output FILE", kServe, "record with --record FILE");
  refuse(!line.framehash.empty(), "--framehash", kServe, "use lensd --headless");
  refuse(!line.tracks.empty(), "--tracks", kServe, "use lensd --headless");
  refuse(line.frames > 0, "--frames", kServe, "use lensd --headless");
}

/// Throws Error(usage) for options of playback, because a batch run processes each frame once.
void refuse_playback_options(const CommandLine& line) {
  refuse(line.speed != 1, "--speed", batch_option(line), kNoBatch);
  refuse(line.loop_file, "--loop-file", batch_option(line), kNoBatch);
  refuse(line.pause, "--pause", batch_option(line), kNoBatch);
}

/// Removes "--" between the options of `lensd ctl` and its command. The command ends the options anyway.
std::vector<std::string> without_separator(std::vector<std::string> words) {
  if (words.empty() || words[0] != "ctl") return words;
  for (size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (words[i] == "--socket" || words[i] == "--timeout") ++i;  // skip the value
  }
  return words;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  CommandLineParser parser(line);
  CLI::App& app = parser.app;
  try {
    std::vector<std::string> words = without_separator({argv + std::min(argc, 1), argv + argc});
    std::ranges::reverse(words);  // CLI11 reads the words from the back
    app.parse(std::move(words));
    apply_last_level(app);
  } catch (const CLI::CallForHelp&) {
    const auto commands = app.get_subcommands();
    throw EarlyExit{help_text(commands.empty() ? app : *commands.front())};
  } catch (const CLI::CallForVersion& e) {
    throw EarlyExit{std::string(e.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    const std::string text = e.what();
    if (const size_t end = text.find(": At Most 1 required"); end != std::string::npos)
      throw Error(ExitCode::usage, text.substr(0, end), "is given more than once");
    const bool extra = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    throw Error(ExitCode::usage, "command line", e.what(), extra ? option_hint(app) : "see lensd --help");
  }

  const Config& config = line.config = line.layers.command_line;
  for (const ConfigProblem& p : check_config(config))
    throw Error(ExitCode::usage, parser.options.name_of(p.key), p.sentence);
  if (app.get_subcommands().empty()) refuse_mistyped_command(app, config);
  if (!line.tracks.empty()) check_track_path(line.tracks);
  if (!line.timings.empty()) check_timings_path(line.timings);
  if (!line.trace.empty()) check_trace_path(line.trace);
  if (line.mode == RunMode::serve) refuse_batch_options(line);
  const bool writes =
      !line.output.empty() || config.has("output.url") || !line.framehash.empty() || !line.tracks.empty();
  if (line.mode == RunMode::viewer && (line.headless || writes)) line.mode = RunMode::batch;
  if (line.mode == RunMode::batch) refuse_playback_options(line);
  refuse_options_without_effect(app, line);
  refuse_options_of_other_commands(app, line.mode);
  if (line.mode != RunMode::viewer && !line.more_sources.empty())
    throw Error(ExitCode::usage, line.more_sources.front(), "only the window plays several sources",
                "process them one after another");
  return line;
}

ProgramHelp program_help() {
  CommandLine unused;
  const CommandLineParser parser(unused);
  return describe(parser.app, [&](const CLI::Option* option) {
    std::vector<std::string> found = parser.options.choices(option);
    for (const CommandLineOptions& one : parser.of_subcommands)
      if (found.empty()) found = one.choices(option);
    return found;
  });
}

}  // namespace lensd
