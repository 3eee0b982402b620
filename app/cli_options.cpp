#include "app/cli_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <set>

#include "app/cli_help.hpp"
#include "app/help/program_help.hpp"
#include "core/base/error.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/text.hpp"
#include "core/control/commands.hpp"
#include "core/media/stream_output.hpp"
#include "core/media/url.hpp"
#include "core/media/virtual_camera.hpp"
#include "core/pipeline/command.hpp"

namespace lensd {

void CommandLineOptions::key(const char* names, const char* value, const char* key, const char* doc) {
  ParamSpec spec = config_key(key);
  if (doc) spec.doc = doc;
  CLI::Option* option = param(names, value, std::move(spec), &line_.layers.command_line);
  option_names_.emplace(key, option->get_name());
}

CLI::Option* CommandLineOptions::custom(const char* names, const char* value,
                                        std::function<void(const std::string&)> take, const char* doc) {
  const auto callback = [take = std::move(take)](const CLI::results_t& given) {
    take(given.back());
    return true;
  };
  return finish(app_.add_option(names, callback, doc), value);
}

/// Throws Error(usage) while parsing if the flag has a value that does not mean yes or no, as in
/// --mute=maybe. CLI11 2.3 and older throw std::invalid_argument; newer versions read it as no.
CLI::Option* CommandLineOptions::finish_flag(CLI::Option* option) {
  const auto check = [name = option->get_name()](const std::string& text) {
    static const std::set<std::string> known = {"yes", "true",  "on",  "enable",  "1",
                                                "no",  "false", "off", "disable", "0"};
    if (!known.contains(lower_case(text)))
      throw Error(ExitCode::usage, name, fmt::format("'{}' is not yes or no", text));
    return std::string();
  };
  return finish(option)->check(check);
}

CLI::Option* CommandLineOptions::param(const char* names, const char* value, ParamSpec own, void* target) {
  const ParamSpec& spec = specs_.emplace_back(std::move(own));
  const std::string doc = option_doc(spec);
  if (spec.type == ParamType::boolean)
    return finish_flag(app_.add_flag_function(
        names, [&spec, target](int64_t count) { spec.put(target, count > 0); }, doc));
  const std::string name(names, std::strcspn(names, ","));
  CLI::Option* option = custom(
      names, value,
      [&spec, target, name](const std::string& text) {
        ParamValue parsed;
        if (const auto problem = spec.parse(text, parsed)) throw Error(ExitCode::usage, name, *problem);
        spec.put(target, parsed);
      },
      doc.c_str());
  choices_.emplace(option, spec.choices);
  return option;
}

namespace {

void set_key(CommandLine& line, const char* key, const ParamValue& value) {
  config_key(key).put(&line.layers.command_line, value);
}

/// Parses --http: "8080", "0.0.0.0:8080" or "[::1]:8080". Throws Error(usage) if the port is invalid or the
/// address is empty.
void set_http(CommandLine& line, const std::string& text) {
  const size_t colon = text.rfind(':');
  ParamValue port;
  if (config_key("http.port").parse(text.substr(colon == std::string::npos ? 0 : colon + 1), port))
    throw Error(ExitCode::usage, "--http", fmt::format("'{}' is not of the form [ADDRESS:]PORT", text));
  set_key(line, "http.port", port);
  if (colon == std::string::npos) return;
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.empty())  // the server would listen on all addresses
    throw Error(ExitCode::usage, "--http", fmt::format("'{}' has an empty address", text),
                "use PORT for 127.0.0.1, or 0.0.0.0:PORT to listen on all addresses");
  set_key(line, "http.address", address);
}

/// Stores an address as the configuration key output.url, anything else as CommandLine::output. The check of
/// the key refuses addresses that lensd cannot send to.
void set_output(CommandLine& line, const std::string& given) {
  const std::string target = without_file_scheme(given);
  if (is_stream_target(target) || !scheme_of(target).empty())
    set_key(line, "output.url", target);
  else
    line.output = target;
}

/// Sets configuration key output.virtual_camera. Throws Error(usage) if the value looks like a source.
void set_virtual_camera(CommandLine& line, const std::string& name) {
  std::error_code ignored;
  if (name.find_first_of("/:") != std::string::npos || std::filesystem::exists(name, ignored))
    throw Error(ExitCode::usage, "--virtual-camera", "'" + name + "' is not the name of a camera",
                "put the source before the option");
  set_key(line, "output.virtual_camera", name.empty() ? kVirtualCameraName : name);
}

using Member = Schema<CommandLine>;

void add_input_options(CommandLineOptions& o, CommandLine& line) {
  constexpr int kUnlimited = std::numeric_limits<int>::max();
  o.key("SOURCE", "", "source.url",
        "video or image file, img_%04d.png, - (standard input), test:NAME[=OPTIONS] (a lavfi source), "
        "rtsp:// http:// https:// udp:// srt:// rtmp://, /dev/videoN, v4l2:PATH, pipewire:[NODE], portal: or "
        "screen:. Without it: the first camera, else a test picture.");
  o.plain("FILES", "", line.more_sources,
          "further files and folders; > and < play the next and the previous");
  o.key("--hwdec", "MODE", "source.hwdec");
  o.key("--hdr", "MODE", "colour.hdr");
  o.key("--video-track", "N", "source.video_track");
  o.key("--profile", "NAME", "source.profile");
  o.key("--rtsp-transport", "NAME", "source.rtsp_transport");
  o.key("--network-timeout", "SECONDS", "source.timeout");
  o.plain("--source-control", "NAME=VALUE", line.source_controls,
          "set a control of the camera, such as gain=30; lensd doctor lists them")
      ->allow_extra_args(false);
  o.custom(
      "--start", "TIME", [&line](const std::string& text) { set_start(line, text); },
      "start at this time: seconds, [HH:]MM:SS, or 50% of the length; overrides the position where the file "
      "was left");
  o.member("--speed", "FACTOR",
           Member("", "").real("speed", &CommandLine::speed, kMinSpeed, kMaxSpeed,
                               "playback speed, in the window and lensd serve"));
  o.member("--frames", "N",
           Member("", "").integer("frames", &CommandLine::frames, 1, kUnlimited,
                                  "stop after this many frames; in the window: of each source"));
  o.custom(
       "--loop-file", "[=inf|no]",
       [&line](const std::string& text) {
         if (text != "inf" && text != "yes" && text != "no")
           throw Error(ExitCode::usage, "--loop-file", "'" + text + "' is not one of inf, no",
                       "put the source before the option");
         line.loop_file = text != "no";
       },
       "start over at the end, in the window and lensd serve (default without a value: inf)")
      ->expected(0, 1)
      ->default_str("inf");
  o.flag("--pause", line.pause, "start paused, in the window and lensd serve");
  o.flag("--no-resume", line.no_resume, "play files from their start, not from where they were left");
}

void add_graph_options(CommandLineOptions& o, CommandLine& line) {
  o.group("Graph");
  o.custom(
      "--graph", "CHAIN", [&line](const std::string& text) { line.layers.graph_spec = text; },
      "filters as a chain: median=radius=1,gaussian=sigma=1.6,grayscale");
  o.key("--precision", "BITS", "graph.precision");
  // Take one value per option, because the next argument may be the source.
  o.plain("-c,--config", "FILE|PRESET", line.layers.files,
          "TOML file with graph and settings, or the name of a preset; later files win")
      ->allow_extra_args(false);
  o.plain("--set", "NODE.PARAM=VALUE", line.layers.sets, "change a parameter after the graph is read")
      ->allow_extra_args(false);
}

void add_sound_options(CommandLineOptions& o, CommandLine& line) {
  o.group("Sound");
  o.key("--volume", "PERCENT", "audio.volume");
  o.key("--mute", "", "audio.mute");
  o.key("--audio-track", "N", "audio.track");
  o.flag(
      "--no-audio", [&line](int64_t count) { set_key(line, "audio.on", count <= 0); },
      "play and copy no sound");
}

void add_output_options(CommandLineOptions& o, CommandLine& line) {
  o.group("Output");
  o.flag("--headless", line.headless, "no window: process all frames as fast as possible");
  o.key("--fullscreen", "", "window.fullscreen");
  o.key("--keep-screen-on", "", "window.keep_screen_on");
  o.custom(
      "-o,--output", "FILE|URL", [&line](const std::string& text) { set_output(line, text); },
      "write the result: .mp4 .mov .mkv .webm .avi .png .jpg, out_%04d.png, or null: to measure; or send it: "
      "rtsp:// rtmp:// srt:// udp:// rtp://, playlist.m3u8, v4l2:/dev/videoN");
  o.sets("output.url", "--output");
  o.custom(
       "--virtual-camera", "[NAME]", [&line](const std::string& text) { set_virtual_camera(line, text); },
       "show the result to other programs as a camera of this name (default lensd), through PipeWire")
      ->expected(0, 1)
      ->default_str(kVirtualCameraName);
  o.sets("output.virtual_camera", "--virtual-camera");
  o.custom(
      "--record", "FILE", [&line](const std::string& text) { line.record = without_file_scheme(text); },
      "also record while the video runs: .mkv .mp4 .mov .webm .avi; the name may contain the time, as "
      "in cam-%H%M%S.mkv");
  o.flag("--overwrite", line.overwrite, "replace existing files; the source is never replaced");
  o.plain("--framehash", "FILE", line.framehash, "write index, pts and SHA-256 of each output frame");
  o.plain("--tracks", "FILE", line.tracks,
          "write all tracks of each frame (needs a klt node): .csv or .jsonl");
  o.member("--screenshot-template", "NAME",
           Member("", "").text("screenshot-template", &CommandLine::screenshot_template,
                               "snapshot name, .png or .jpg: %F source, %P time, %f frame, %n number, %tX "
                               "strftime"));
  o.plain("--screenshot-directory", "FOLDER", line.screenshot_folder,
          "folder of snapshots; without it the user's pictures folder");
}

void add_other_options(CommandLineOptions& o, CommandLine& line) {
  o.group("Performance");
  o.key("--backend", "NAME", "performance.backend");
  o.key("--device", "N", "performance.device");
  o.key("--threads", "N", "performance.threads");
  o.plain("--timings", "FILE", line.timings, "write timings of all kernels: .csv or .json; a pipe gets CSV");
  o.plain("--trace", "FILE", line.trace, "write a Chrome trace of the last seconds: .json");
  o.key("--trace-on", "drop|MS", "performance.trace_on");

  o.group("Control");
  o.key("--socket,--input-ipc-server", "PATH", "control.socket");
  o.custom(
      "--http", "[ADDRESS:]PORT", [&line](const std::string& text) { set_http(line, text); },
      "HTTP control and panel page (port 0 to 65535; 0: any free port)");

  o.group("Logging");
  o.key("--msg-level", "LEVEL", "log.level");
  o.flag(
      "-v", [&line](int64_t count) { set_key(line, "log.level", count > 1 ? "debug" : "info"); },
      "level info; -vv: level debug");
  o.flag(
      "-q", [&line](int64_t) { set_key(line, "log.level", "error"); }, "level error, and no progress line");
  o.key("--log-file", "FILE", "log.file");
}

/// Adds a subcommand that sets the run mode.
CLI::App& subcommand(CLI::App& app, CommandLine& line, RunMode mode, const char* name, const char* doc) {
  CLI::App* sub = app.add_subcommand(name, doc);
  sub->callback([&line, mode] { line.mode = mode; });
  return *sub;
}

void add_ctl_options(CLI::App& ctl, CommandLineOptions& o, CommandLine& line) {
  o.plain("--socket", "PATH", line.ctl_socket,
          "path of its control socket; without it $LENSD_SOCKET, the default path, then that of the service");
  o.flag("--json", line.json, "print responses as received, one JSON object per line");
  o.member("--timeout", "SECONDS",
           Member("", "").real("timeout", &CommandLine::ctl_timeout_s, 0.001, 86400,
                               "how long to wait for a response"));
  ctl.prefix_command();
  std::string commands = "Commands\n";
  for (const CommandSpec& command : command_table())
    commands += help_row(command_usage(command), command.doc);
  ctl.footer(commands + "\n" +
             wrapped_text(
                 "A VALUE is JSON or plain text. Exit codes: 0 done, 1 refused or the connection was lost, 2 "
                 "usage, 5 no running lensd."));
  ctl.callback([&line, &ctl] {
    line.mode = RunMode::ctl;
    line.ctl_args = ctl.remaining();
  });
}

void add_subcommands(CLI::App& app, CommandLine& line, std::deque<CommandLineOptions>& all) {
  const auto options = [&](CLI::App& sub) -> CommandLineOptions& {
    return all.emplace_back(sub, line, "Options");
  };

  CLI::App& serve = subcommand(app, line, RunMode::serve, "serve",
                               "run as a daemon: no window, control by socket and HTTP");
  serve.fallthrough()->footer(wrapped_text(
      "Takes the options of lensd --help, except those of the window and those that need the end of a "
      "run: -o FILE, --framehash, --tracks, --frames."));
  options(serve);

  CLI::App& ctl = subcommand(app, line, RunMode::ctl, "ctl", "send a command to a running lensd");
  add_ctl_options(ctl, options(ctl), line);

  CommandLineOptions& filters = options(
      subcommand(app, line, RunMode::filters, "filters", "list the filters, or one with its parameters"));
  filters.plain("NAME", "", line.filter_name, "name of a filter");
  filters.flag("--json", line.json, "print JSON");
  filters.flag("--markdown", line.markdown, "print Markdown");

  options(subcommand(app, line, RunMode::doctor, "doctor",
                     "report what works on this machine, and why the rest does not"));

  CLI::App& bench =
      subcommand(app, line, RunMode::bench, "bench", "measure each kernel, beside a copy of as many bytes");
  CommandLineOptions& b = options(bench);
  b.plain("FILTER", "", line.bench_filters,
          "names of filters, colour (the conversion of the source) or scopes; without it: all");
  b.plain("--size", "SIZE", line.bench_sizes,
          "size of the pictures: 720p, 1080p, 4k, 8k or one such as 640x480; repeatable")
      ->allow_extra_args(false);
  b.flag("--json", line.json, "print a JSON object per row");
  bench.fallthrough()->footer(
      "--backend, --device and --threads select what is measured. A filter takes about a minute or\n"
      "more: each format and several settings are measured, on the CPU at 1080p with one thread and\n"
      "with all, on the GPU at 1080p, 4K and 8K. --size 640x480 --threads 1 is much shorter.");

  CommandLineOptions& check =
      options(subcommand(app, line, RunMode::check, "check", "check configuration files"));
  check.plain("FILE", "", line.layers.files, "TOML files");
  check.flag("--schema", line.schema, "print the JSON Schema of the configuration");

  CommandLineOptions& completion = options(
      subcommand(app, line, RunMode::completion, "completion", "print the completion script of a shell"));
  completion.plain("SHELL", "", line.shell, "bash, zsh or fish")->required();
  options(
      subcommand(app, line, RunMode::manual, "manual", "print the manual page (lensd manual | man -l -)"));
}

std::string exit_code_line() {
  std::string text;
  for (const ExitCodeHelp& one : exit_code_help())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.code, one.meaning);
  return text;
}

}  // namespace

CommandLineParser::CommandLineParser(CommandLine& line) : options(app, line, "Input") {
  app.set_help_flag("-h,--help", "print the help");
  app.set_version_flag("--version", std::string("lensd ") + LENSD_VERSION, "print the version")->group("");
  add_input_options(options, line);
  add_graph_options(options, line);
  add_sound_options(options, line);
  add_output_options(options, line);
  add_other_options(options, line);
  add_subcommands(app, line, of_subcommands);
  app.footer(wrapped_text("lensd --version prints the version. Exit codes: " + exit_code_line() + "."));
}

}  // namespace lensd
