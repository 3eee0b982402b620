// Converts the merged configuration to the settings of the program's parts.

#include <charconv>
#include <sstream>
#include <string_view>

#include "app/cli.hpp"
#include "app/recording_owner.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/config/presets.hpp"
#include "core/image/extent_text.hpp"

namespace lensd {
namespace {

int64_t nanoseconds(double seconds, double fallback) {
  return static_cast<int64_t>((seconds > 0 ? seconds : fallback) * 1e9);
}

LiveOptions live_options(const Config& config) {
  const Config defaults;
  LiveOptions live;
  live.format = config.source_format;
  live.size = parse_size(config.source_size);
  live.rate = config.source_rate;
  live.rtsp_transport = config.rtsp_transport;
  live.tls = tls_check(config.source_tls);
  live.open_ns = nanoseconds(config.source_open_timeout, defaults.source_open_timeout);
  live.silence_ns = nanoseconds(config.source_timeout, defaults.source_timeout);
  live.silence_given = config.has("source.timeout") && config.source_timeout > 0;
  live.stall_ns = nanoseconds(config.source_stall, defaults.source_stall);
  live.extra = parse_options(config.source_options);
  live.controls = config.source_controls;
  live.low_latency = config.source_profile == "low-latency";
  return live;
}

/// Adds NAME=VALUE, an argument of --source-control, to the command-line layer. Throws Error(usage) if it is
/// malformed.
void add_source_control(CommandLine& line, const std::string& text) {
  const size_t sign = text.find('=');
  const std::string name = text.substr(0, sign);
  if (sign == std::string::npos || name.empty() || control_name(name) != name)
    throw Error(ExitCode::usage, "--source-control", "'" + text + "' is not NAME=VALUE",
                "lensd doctor lists the names");
  Config& config = line.layers.command_line;
  set_value(config.source_controls, name, text.substr(sign + 1));
  config.given.insert("source.controls");
}

/// Returns EncoderOptions::depth for "auto", "8" or "10".
int encoder_depth(const std::string& text) {
  return text == "auto" ? 0 : std::atoi(text.c_str());
}

RecordSettings record_settings(const Config& config) {
  RecordSettings r;
  r.folder = config.record_folder;
  r.name = config.record_name;
  r.encoder.codec = config.record_codec;
  r.encoder.preset = config.record_preset;
  r.encoder.depth = encoder_depth(config.record_depth);
  r.encoder.dither = config.record_dither;
  // Without the key, keep the encoder's default, because CRF scales differ between encoders.
  if (config.has("record.crf")) r.encoder.crf = config.record_crf;
  r.encoder.bitrate_kbit = config.record_bitrate;
  r.split_seconds = config.record_split_seconds;
  r.split_megabytes = config.record_split_megabytes;
  r.keep_minutes = config.record_keep_minutes;
  r.keep_gigabytes = config.record_keep_gigabytes;
  r.preroll_seconds = config.record_preroll_seconds;
  r.preroll_megabytes = config.record_preroll_megabytes;
  return r;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_options(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> options;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t sign = word.find('=');
    // Do not show the word: it may be a part of a passphrase with spaces.
    if (sign == std::string::npos || sign == 0)
      throw Error(ExitCode::invalid_config, "source.options",
                  "word " + std::to_string(options.size() + 1) + " is not NAME=VALUE",
                  "values cannot contain spaces");
    options.emplace_back(word.substr(0, sign), word.substr(sign + 1));
  }
  return options;
}

void set_start(CommandLine& line, const std::string& text) {
  const auto refuse = [&]() -> Error {
    return {ExitCode::usage, "--start",
            "'" + text + "' is not a time, expected one such as 90, 1:30, 1:02:03.5 or 50%"};
  };
  const auto number = [&](std::string_view part, double most) {
    double value = -1;
    const auto [end, error] =
        std::from_chars(part.data(), part.data() + part.size(), value, std::chars_format::fixed);
    if (error != std::errc() || end != part.data() + part.size() || !(value >= 0 && value <= most))
      throw refuse();
    return value;
  };
  constexpr double kMaxSeconds = 1e9;
  StartPosition& start = line.start.emplace();
  if (text.ends_with('%')) {
    start.share = number(std::string_view(text).substr(0, text.size() - 1), 100) / 100;
    return;
  }
  // Only the first part may exceed 59, as in 90 or 100:00.
  std::string_view rest = text;
  for (int part = 0;; ++part) {
    const size_t colon = rest.find(':');
    if (part > 2) throw refuse();
    start.seconds = start.seconds * 60 + number(rest.substr(0, colon), part == 0 ? kMaxSeconds : 59.9999999);
    if (colon == std::string_view::npos) return;
    rest.remove_prefix(colon + 1);
  }
}

Extent parse_size(const std::string& text) {
  if (text.empty()) return {};
  if (const auto size = parse_extent(text)) return *size;
  throw Error(ExitCode::invalid_config, "source.size", "'" + text + "' is not a size such as 1280x720");
}

GraphDesc configure(CommandLine& line, const Registry& registry) {
  line.layers.environment = process_environment();
  for (std::string& file : line.layers.files) file = config_path(preset_folders(), file);
  for (const std::string& control : line.source_controls) add_source_control(line, control);
  Layered layered = load_layers(line.layers, registry);
  line.config = std::move(layered.config);
  line.graph_file = std::move(layered.graph_file);
  line.live = live_options(line.config);
  line.recording = record_settings(line.config);
  if (line.recording.keep_minutes > 0 || line.recording.keep_gigabytes > 0)
    line.recording.owner = recording_owner(run_state_folder(), recording_owner_key(line));
  line.stream.codec = line.config.output_codec;
  line.stream.preset = line.config.output_preset;
  line.stream.depth = encoder_depth(line.config.output_depth);
  line.stream.dither = line.config.output_dither;
  line.stream.crf = line.config.output_crf;
  line.stream.bitrate_kbit = line.config.output_bitrate;
  return layered.graph;
}

}  // namespace lensd
