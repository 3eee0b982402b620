#include "app/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

#include "app/commands/track_file.hpp"
#include "app/pipeline/flight_recorder.hpp"
#include "core/base/error.hpp"
#include "core/control/commands.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {
namespace {

const std::map<std::string, BackendRequest> kBackends{
    {"auto", BackendRequest::automatic}, {"cuda", BackendRequest::cuda}, {"cpu", BackendRequest::cpu}};
const std::map<std::string, HwDecode> kHwDecode{
    {"auto", HwDecode::automatic}, {"cuda", HwDecode::cuda}, {"no", HwDecode::off}};

template <class E>
E lookup(const std::map<std::string, E>& names, const std::string& name, const char* option) {
  const auto it = names.find(name);
  if (it != names.end()) return it->second;
  std::string known;
  for (const auto& [key, value] : names) known += (known.empty() ? "" : ", ") + key;
  throw Error(ExitCode::usage, option, "'" + name + "' is not one of " + known);
}

struct Text {
  std::string backend = "auto", hwdec = "no", loop;
  int verbose = 0;
  bool quiet = false, no_audio = false;
};

void add_options(CLI::App& app, CommandLine& line, Text& text) {
  app.add_option("SOURCE", line.source,
                 "video or image file, img_%04d.png, - (standard input), test:NAME[=opts] (a lavfi source), "
                 "rtsp:// http:// https:// udp:// srt:// rtmp://, /dev/videoN, v4l2:PATH, screen:");
  app.add_option("--graph", line.graph_spec,
                 "filters as a chain: median=radius=1,gaussian=sigma=1.6,grayscale");
  // One value each time: what follows may be the source.
  app.add_option("-c,--config", line.configs, "TOML file with source, graph and settings; later files win")
      ->allow_extra_args(false);
  app.add_option("--set", line.sets, "node.param=value, after the graph is read")->allow_extra_args(false);
  app.add_option("--backend", text.backend, "auto, cuda or cpu");
  app.add_option("--device", line.device, "CUDA device number")->check(CLI::Range(0, 255));
  app.add_option("--threads", line.threads, "CPU worker threads, 0 for one per core")
      ->check(CLI::Range(0, 1024));
  app.add_option("--hwdec", text.hwdec, "hardware decoding: auto, cuda or no");
  app.add_option("--profile", line.profile, "low-latency: live sources with the least delay")
      ->check(CLI::IsMember({"default", "low-latency"}));
  app.add_option("--rtsp-transport", line.rtsp_transport, "tcp, udp, udp_multicast or http")
      ->check(CLI::IsMember({"tcp", "udp", "udp_multicast", "http"}));
  app.add_option("--network-timeout", line.network_timeout_s,
                 "seconds without data after which a live source is opened anew")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--headless", line.headless, "no window: process all frames as fast as they go");
  app.add_option(
      "-o,--output", line.output,
      "write the result: .mp4 .mkv .webm .avi .png .jpg, out_%04d.png, or null: to measure; or send it: "
      "rtsp:// rtmp:// srt:// udp:// rtp://, playlist.m3u8, v4l2:/dev/videoN");
  app.add_option(
      "--record", line.record,
      "also record what is shown, while it runs: .mkv .mp4 .mov .webm .avi, with %H%M%S in the name");
  app.add_option("--frames", line.frames, "stop after this many frames")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 60));
  app.add_option("--start", line.start_s, "start at this time, in seconds");
  app.add_option("--speed", line.speed, "playback speed");
  app.add_option("--timings", line.timings, "write per-kernel timings: .csv or .json");
  app.add_option("--framehash", line.framehash, "write index, pts and SHA-256 of each output frame");
  app.add_option("--tracks", line.tracks, "write every track of every frame (a klt node): .csv or .jsonl");
  app.add_option("--trace", line.trace, "write a Chrome trace of the last seconds: .json");
  app.add_option("--trace-on", line.trace_on,
                 "write a trace of the last 10 s when a frame is lost (drop) or takes longer than MS");
  app.add_option("--loop-file", text.loop, "inf or no: start over at the end")
      ->expected(0, 1)
      ->default_str("inf");
  app.add_flag("--pause", line.pause, "start paused");
  app.add_flag("--fullscreen", line.fullscreen, "start in fullscreen");
  app.add_flag("--no-audio", text.no_audio, "accepted for mpv's sake: lensd plays no sound");
  app.add_option("--screenshot-template", line.screenshot_template,
                 "name of snapshots: %F source, %P time, %f frame, %n number, %tX strftime; .png or .jpg");
  app.add_option("--screenshot-directory", line.screenshot_folder,
                 "their folder, else the user's for pictures");
  app.add_option("--log-file", line.log_file, "also write the whole log there");
  app.add_option("--msg-level", line.log_level, "trace, debug, info, warn, error or off");
  app.add_option("--input-ipc-server,--socket", line.socket, "path of the control socket");
  app.add_option("--http", line.http, "HTTP control and panel page: [ADDRESS:]PORT");
  app.add_flag("-v", text.verbose, "more messages; -vv for debug");
  app.add_flag("-q", text.quiet, "errors only");
  app.set_version_flag("--version", std::string("lensd ") + LENSD_VERSION);
}

void add_subcommands(CLI::App& app, CommandLine& line) {
  auto* filters = app.add_subcommand("filters", "list the filters, or one with its parameters");
  filters->add_option("NAME", line.filter_name, "a filter's name");
  filters->add_flag("--json", line.json, "as JSON");
  filters->add_flag("--markdown", line.markdown, "as Markdown");
  filters->callback([&line] { line.mode = RunMode::filters; });
  auto* doctor = app.add_subcommand("doctor", "what works on this machine, and why not");
  doctor->callback([&line] { line.mode = RunMode::doctor; });
  auto* bench = app.add_subcommand("bench", "what each kernel costs here, beside copying its bytes");
  bench->add_option("FILTER", line.bench_filters, "filters by name, colour for the way in; else all");
  bench->add_option("--size", line.bench_sizes, "720p, 1080p, 4k, 8k or 640x480")->allow_extra_args(false);
  bench->add_flag("--json", line.json, "an object a line");
  bench->fallthrough();
  bench->footer("With --backend=cpu or cuda only that one; --threads N on the CPU.");
  bench->callback([&line] { line.mode = RunMode::bench; });
  auto* serve = app.add_subcommand("serve", "run as a daemon: no window, controlled by socket and HTTP");
  serve->fallthrough();
  serve->callback([&line] { line.mode = RunMode::serve; });
  auto* ctl = app.add_subcommand("ctl", "talk to a running lensd");
  ctl->add_option("--socket", line.socket, "path of its control socket");
  ctl->add_flag("--json", line.json, "answers as they come, a JSON object a line");
  ctl->add_option("--timeout", line.ctl_timeout_s, "seconds to wait for an answer");
  ctl->prefix_command();
  ctl->footer(
      "Commands:\n" + commands_text() +
      "\nEvery VALUE is JSON or plain text. Exit codes: 0 done, 1 refused, 2 usage, 5 no lensd there.");
  ctl->callback([&line, ctl] {
    line.mode = RunMode::ctl;
    line.ctl_args = ctl->remaining();
  });
  auto* check = app.add_subcommand("check", "validate configuration files");
  check->add_option("FILE", line.configs, "TOML files");
  check->add_flag("--schema", line.schema, "print the JSON Schema of the configuration");
  check->callback([&line] { line.mode = RunMode::check; });
}

}  // namespace

namespace {

/// A daemon has no end at which such files would be complete; passed over in silence they would be missed.
void refuse_batch_options(const CommandLine& line) {
  const auto refuse = [](bool given, const char* option, const char* instead) {
    if (given) throw Error(ExitCode::usage, option, "is not for lensd serve", instead);
  };
  refuse(!line.output.empty() && !is_stream_target(line.output), "--output FILE",
         "record with --record FILE");
  refuse(!line.framehash.empty(), "--framehash", "use lensd --headless");
  refuse(!line.tracks.empty(), "--tracks", "use lensd --headless");
  refuse(line.frames > 0, "--frames", "use lensd --headless");
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  Text text;
  CLI::App app{"lensd: watch and tune a video filter graph, live", "lensd"};
  app.footer(
      "Exit codes: 0 done, 1 run-time failure, 2 usage, 3 invalid config or graph,\n"
      "4 source cannot be opened or decoded, 5 backend or display not available.");
  add_options(app, line, text);
  add_subcommands(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* sub : app.get_subcommands()) throw EarlyExit{sub->help()};
    throw EarlyExit{app.help()};
  } catch (const CLI::CallForVersion& e) {
    throw EarlyExit{std::string(e.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    throw Error(ExitCode::usage, "command line", e.what(), "see lensd --help");
  }

  line.has_graph = app.count("--graph") > 0;
  line.backend = lookup(kBackends, text.backend, "--backend");
  line.hwdec = lookup(kHwDecode, text.hwdec, "--hwdec");
  line.loop_file = app.count("--loop-file") > 0 && text.loop != "no";
  if (text.verbose > 0) line.log_level = text.verbose > 1 ? "debug" : "info";
  if (text.quiet) line.log_level = "error";
  if (!std::isfinite(line.start_s) || line.start_s < 0)
    throw Error(ExitCode::usage, "--start", "a time in seconds from 0 is expected");
  if (!std::isfinite(line.speed) || line.speed < 0.01 || line.speed > 100)
    throw Error(ExitCode::usage, "--speed", "a speed from 0.01 to 100 is expected");
  if (!line.tracks.empty()) check_track_path(line.tracks);
  parse_trace_trigger(line.trace_on);
  if (line.mode == RunMode::serve) refuse_batch_options(line);
  const bool writes = !line.output.empty() || !line.framehash.empty() || !line.tracks.empty();
  if (line.mode == RunMode::viewer && (line.headless || writes)) line.mode = RunMode::batch;
  return line;
}

std::vector<std::pair<std::string, std::string>> parse_options(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> options;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0)
      throw Error(ExitCode::invalid_config, "source.options", "'" + word + "' is not NAME=VALUE");
    options.emplace_back(word.substr(0, sign), word.substr(sign + 1));
  }
  return options;
}

Extent parse_size(const std::string& text) {
  Extent size;
  char end = 0;
  if (text.empty()) return size;
  if (std::sscanf(text.c_str(), "%5dx%5d%c", &size.width, &size.height, &end) != 2 || size.width < 1 ||
      size.height < 1 || size.width > kMaxSide || size.height > kMaxSide)
    throw Error(ExitCode::invalid_config, "source.size", "'" + text + "' is no size such as 1280x720");
  return size;
}

namespace {

/// What the files say about live sources, and over it the command line.
void configure_live(CommandLine& line, const Config& config) {
  LiveOptions& live = line.live;
  const auto seconds = [](int64_t& to, double from) {
    if (from > 0) to = static_cast<int64_t>(from * 1e9);
  };
  live.format = config.source_format.value_or("");
  live.size = parse_size(config.source_size.value_or(""));
  live.rate = config.source_rate.value_or(0);
  live.rtsp_transport =
      line.rtsp_transport.empty() ? config.rtsp_transport.value_or("tcp") : line.rtsp_transport;
  seconds(live.open_ns, config.source_open_timeout.value_or(0));
  seconds(live.silence_ns, config.source_timeout.value_or(0));
  seconds(live.silence_ns, line.network_timeout_s);
  seconds(live.stall_ns, config.source_stall.value_or(0));
  live.extra = parse_options(config.source_options.value_or(""));
  live.low_latency =
      (line.profile.empty() ? config.source_profile.value_or("") : line.profile) == "low-latency";
}

}  // namespace

GraphDesc configure(CommandLine& line, const Registry& registry) {
  line.source_given = !line.source.empty();
  line.layers = {.files = line.configs,
                 .environment = process_environment(),
                 .graph_spec = line.has_graph ? std::optional(line.graph_spec) : std::nullopt,
                 .sets = line.sets};
  Layered layered = load_layers(line.layers, registry);
  const Config& config = line.config = std::move(layered.config);
  // The preset that the viewer shows as loaded: the last file with a graph.
  for (const std::string& path : line.configs)
    if (!line.has_graph && load_config(path, registry).graph) line.graph_file = path;

  if (line.source.empty()) line.source = config.source_url.value_or("");
  configure_live(line, config);
  if (line.hwdec == HwDecode::off && config.hwdec) line.hwdec = lookup(kHwDecode, *config.hwdec, "hwdec");
  if (line.backend == BackendRequest::automatic && config.backend)
    line.backend = lookup(kBackends, *config.backend, "backend");
  if (line.threads == 0) line.threads = config.threads.value_or(0);
  if (line.device == 0) line.device = config.device.value_or(0);
  if (line.trace_on.empty()) line.trace_on = config.trace_on.value_or("");
  line.window_width = config.window_width.value_or(line.window_width);
  line.window_height = config.window_height.value_or(line.window_height);
  line.fullscreen = line.fullscreen || config.fullscreen.value_or(false);
  line.vsync = config.vsync.value_or(line.vsync);
  apply_record_config(config, line);
  if (config.log_level && line.log_level == "warn") line.log_level = *config.log_level;
  if (line.log_file.empty()) line.log_file = config.log_file.value_or("");
  return layered.graph;
}

}  // namespace lensd
