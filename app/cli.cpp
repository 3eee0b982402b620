#include "app/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli_help.hpp"
#include "app/cli_options.hpp"
#include "app/commands/track_file.hpp"
#include "app/help/program_help.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace lensd {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Returns a hint for an unknown option: a similar option or a reference to --help.
std::string option_hint(CLI::App& app) {
  std::vector<std::string> known, unknown = app.remaining(true);
  std::vector<const CLI::App*> apps{&app};
  for (const CLI::App* command : app.get_subcommands()) apps.push_back(command);
  for (const CLI::App* one : apps)
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : unknown)
    if (word.starts_with("--"))
      if (const std::string text = did_you_mean(word.substr(0, word.find('=')), known); !text.empty())
        return text;
  return "see lensd --help";
}

/// Throws Error(usage) if the source is probably a mistyped command: a plain word that is not a file and
/// resembles a command.
void refuse_mistyped_command(const CLI::App& app, const Config& config) {
  const std::string& source = config.source_url;
  std::error_code ignored;
  if (source.find_first_of("/.:-") != std::string::npos || std::filesystem::exists(source, ignored)) return;
  if (const std::string hint = did_you_mean(source, command_names(app)); !hint.empty())
    throw Error(ExitCode::usage, source, "there is no such command or file", hint);
}

void refuse(bool given, const char* option, const char* where, const char* instead) {
  if (given) throw Error(ExitCode::usage, option, fmt::format("cannot be used {}", where), instead);
}

/// Throws Error(usage) for options that need the end of a run or write all frames to one file, because a
/// daemon runs without end.
void refuse_batch_options(const CommandLine& line) {
  constexpr const char* kServe = "with lensd serve";
  refuse(!line.output.empty(), "--output FILE", kServe, "record with --record FILE");
  refuse(!line.framehash.empty(), "--framehash", kServe, "use lensd --headless");
  refuse(!line.tracks.empty(), "--tracks", kServe, "use lensd --headless");
  refuse(line.frames > 0, "--frames", kServe, "use lensd --headless");
}

/// Throws Error(usage) for options of playback, because a batch run processes each frame once.
void refuse_playback_options(const CommandLine& line) {
  constexpr const char *kBatch = "without a window", *kInstead = "lensd serve takes it";
  refuse(line.speed != 1, "--speed", kBatch, kInstead);
  refuse(line.loop_file, "--loop-file", kBatch, kInstead);
  refuse(line.pause, "--pause", kBatch, kInstead);
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
    std::reverse(words.begin(), words.end());  // CLI11 reads the words from the back
    app.parse(std::move(words));
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
  if (line.mode == RunMode::serve) refuse_batch_options(line);
  const bool writes =
      !line.output.empty() || config.has("output.url") || !line.framehash.empty() || !line.tracks.empty();
  if (line.mode == RunMode::viewer && (line.headless || writes)) line.mode = RunMode::batch;
  if (line.mode == RunMode::batch) refuse_playback_options(line);
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
