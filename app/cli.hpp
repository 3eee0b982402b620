// The command line: options and subcommands as plain values.
#pragma once

#include <string>
#include <vector>

#include "core/config/layers.hpp"
#include "core/device/backend.hpp"
#include "core/media/record_settings.hpp"
#include "core/media/source.hpp"

namespace lensd {

enum class RunMode { viewer, batch, serve, ctl, filters, doctor, bench, check };

struct CommandLine {
  RunMode mode = RunMode::viewer;

  std::string source;  ///< empty: the default source
  std::string graph_spec;
  bool has_graph = false;
  std::string graph_file;  ///< the --config file that the graph was read from; empty: none, or --graph
  std::vector<std::string> configs, sets;
  BackendRequest backend = BackendRequest::automatic;
  HwDecode hwdec = HwDecode::off;
  int device = 0, threads = 0;
  LiveOptions live;
  std::string profile, rtsp_transport;  ///< as given; empty: not given
  double network_timeout_s = 0;         ///< 0: not given

  bool headless = false, fullscreen = false, pause = false, loop_file = false;
  std::string output, timings, framehash, tracks, trace, record;
  std::string trace_on;  ///< when the viewer writes a trace by itself, see parse_trace_trigger()
  RecordSettings recording;
  EncoderOptions stream;
  std::string output_url;  ///< a receiver of the result while it runs; empty: none
  int64_t frames = 0;      ///< 0: all
  double start_s = 0, speed = 1;
  std::string log_level = "warn", log_file;
  std::string screenshot_template = "lensd-%F-%P", screenshot_folder;
  int window_width = 0, window_height = 0;  ///< logical pixels; 0: as last time, or 1280×720
  bool vsync = true;

  Layers layers;              ///< where the configuration came from, for reloads
  Config config;              ///< what files and variables said
  bool source_given = false;  ///< on the command line
  std::string socket;         ///< --input-ipc-server, --socket; empty: as [control] says
  std::string http;           ///< --http [ADDRESS:]PORT
  std::vector<std::string> ctl_args;
  double ctl_timeout_s = 10;

  bool schema = false;      ///< lensd check --schema
  std::string filter_name;  ///< lensd filters NAME
  std::vector<std::string> bench_filters, bench_sizes;
  bool json = false, markdown = false;
};

/// Thrown when the command line asked for help or the version: print `text`, exit 0.
struct EarlyExit {
  std::string text;
};

/// Throws Error(usage) on anything unknown, EarlyExit for --help and --version.
CommandLine parse_command_line(int argc, char** argv);

/// [source] options, "NAME=VALUE NAME=VALUE", and size, "1280x720". Throw Error(invalid_config).
std::vector<std::pair<std::string, std::string>> parse_options(const std::string& text);
Extent parse_size(const std::string& text);

/// The files of --config in order, then --set and --graph: what the run uses. Fills the options of the
/// command line that were not given there. Throws Error(invalid_config).
GraphDesc configure(CommandLine& line, const Registry& registry);

/// The tables [record] and [output].
void apply_record_config(const Config& config, CommandLine& line);

}  // namespace lensd
