// The command line: run mode, subcommands and options. Options that set configuration keys form the last
// layer of the configuration. All other options are members of CommandLine.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/layers.hpp"
#include "core/media/record_settings.hpp"
#include "core/media/source.hpp"

namespace lensd {

enum class RunMode { viewer, batch, serve, ctl, filters, doctor, bench, check, completion, manual };

/// Where playback begins.
struct StartPosition {
  double seconds = 0;
  double share = 0;  ///< fraction of the duration; 0: use `seconds`
};

struct CommandLine {
  RunMode mode = RunMode::viewer;
  Layers layers;  ///< layers of the configuration, the command line last; kept for reloads
  Config config;  ///< values from the command line; after configure(), from all layers

  bool headless = false, pause = false, loop_file = false, overwrite = false;
  std::string output, timings, framehash, tracks, trace, record;  ///< paths of files; empty: none
  std::vector<std::string> more_sources;                          ///< further files and folders to play
  std::vector<std::string> source_controls;                       ///< arguments of --source-control
  bool no_resume = false;                                         ///< play files from their start
  int frames = 0;                                                 ///< number of frames to process; 0: all
  std::optional<StartPosition> start;                             ///< value of --start
  double speed = 1;
  std::string screenshot_template = "lensd-%F-%P", screenshot_folder;

  // Set by configure().
  std::string graph_file;  ///< path of the --config file with the graph; empty: none
  LiveOptions live;
  RecordSettings recording;
  EncoderOptions stream;

  // Options of subcommands.
  std::string ctl_socket;
  std::vector<std::string> ctl_args;
  double ctl_timeout_s = 10;
  bool schema = false;      ///< lensd check --schema
  std::string filter_name;  ///< lensd filters NAME
  std::string shell;        ///< lensd completion SHELL
  std::vector<std::string> bench_filters, bench_sizes;
  bool json = false, markdown = false;
};

/// Thrown for --help and --version. The catcher prints `text` and exits with code 0.
struct EarlyExit {
  std::string text;
};

/// Parses the command line. Throws Error(usage) if an option or value is invalid, EarlyExit for --help and
/// --version. Call set_config_check() first.
CommandLine parse_command_line(int argc, char** argv);

/// Merges the layers into `line.config` and derives the settings from it. Returns the graph of the run.
/// Throws Error(invalid_config) or Error(usage) if a layer is invalid; see load_layers().
GraphDesc configure(CommandLine& line, const Registry& registry);

/// Parses [source] options, "NAME=VALUE NAME=VALUE". Throws Error(invalid_config) if a word is malformed.
std::vector<std::pair<std::string, std::string>> parse_options(const std::string& text);
/// Parses a start position, "90", "1:30", "1:02:03.5" or "50%", into `line`. Throws Error(usage) if it is
/// malformed.
void set_start(CommandLine& line, const std::string& text);
/// Parses [source] size, "1280x720". Returns an empty Extent if `text` is empty. Throws Error(invalid_config)
/// if it is malformed or a side exceeds kMaxSide.
Extent parse_size(const std::string& text);

}  // namespace lensd
