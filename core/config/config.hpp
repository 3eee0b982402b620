// Reads configuration files in TOML and checks their values.
//
//   file ── load_config() ──▶ Config ── merge(), see layers.hpp ──▶ Config of the run
//
// Up to kMaxProblems problems of a file are reported together, each with its position if it has one. A file
// with a problem is not used at all. A Config is a plain value; copies may be used on any thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/whole_file.hpp"
#include "core/device/backend.hpp"
#include "core/graph/graph.hpp"
#include "core/graph/precision.hpp"
#include "core/image/colour_settings.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

/// Every setting. The member initialisers are the defaults. keys.cpp declares key, range and doc of each
/// setting except `source_controls` and `graph`.
struct Config {
  std::string source_url;  // [source]
  std::string hwdec = "no";
  std::string source_profile = "default", source_format, source_size, source_options;
  std::string rtsp_transport = "tcp", source_tls = "auto";
  double source_rate = 0;
  int source_video_track = 0;
  ControlValues source_controls;  ///< [source.controls]; the only nested table
  double source_open_timeout = 10, source_timeout = 3, source_stall = 0.7;  ///< seconds

  std::string colour_hdr = "tonemap";  // [colour]
  ColourSettings colour;

  Precision precision = Precision::automatic;  // [graph]

  int window_width = 1280, window_height = 720;  // [window], logical pixels
  bool fullscreen = false, vsync = true, keep_screen_on = true;

  bool audio_on = true, audio_mute = false;  // [audio]
  double audio_volume = 100;
  int audio_track = 0;

  BackendRequest backend = BackendRequest::automatic;  // [performance]
  int threads = 0, device = 0;
  std::string trace_on;

  std::string log_level = "warn", log_file;  // [log]

  std::string control_socket, control_folder;  // [control]
  int control_clients = kDefaultClients;

  int http_port = 0;  // [http]
  std::string http_address = "127.0.0.1", http_hosts, http_token, http_token_file;
  bool http_auth = true;
  int http_connections = kDefaultConnections, http_stream_fps = 15;

  bool record_on = false, record_dither = false;  // [record]
  std::string record_what = "output", record_folder, record_name = "rec-%Y%m%d-%H%M%S.mkv";
  std::string record_codec = "auto", record_preset, record_depth = "auto";
  int record_crf = 18, record_bitrate = 0;
  double record_split_seconds = 0, record_split_megabytes = 0;
  double record_keep_minutes = 0, record_keep_gigabytes = 0;
  double record_preroll_seconds = 0, record_preroll_megabytes = 64;

  std::string output_url, output_codec = "auto", output_preset, output_depth = "auto";  // [output]
  std::string output_virtual_camera, output_tls = "auto";
  bool output_dither = false;
  int output_crf = 23, output_bitrate = 0;

  std::optional<GraphDesc> graph;  // [graph] output and [[node]]

  /// Names of the keys that a file, a variable or the command line sets, such as "http.port". All other keys
  /// have their defaults.
  std::set<std::string, std::less<>> given;
  bool has(std::string_view key) const { return given.contains(key); }
};

/// A problem with a value that has the right type and range.
struct ConfigProblem {
  std::string key;  ///< full name, such as "record.name"
  std::string sentence;
};
/// Checks values that core/config cannot check, such as encoders and file types.
using ConfigCheck = std::vector<ConfigProblem> (*)(const Config&);
/// Sets the check. It is run for each file, for the command line and for the merged configuration. Call
/// before any thread reads a configuration.
void set_config_check(ConfigCheck check);
/// Runs the check and returns the problems that it finds; none if set_config_check() was not called.
std::vector<ConfigProblem> check_config(const Config& config);

/// Selects how parse_config() checks a graph. `values` calls validate(). It accepts parts of a graph, such as
/// copied nodes, and everything that the viewer saves, such as a disabled node whose parameters do not fit.
/// `plan` also calls planning_problems(), which refuses graphs that no picture fits.
enum class GraphCheck : uint8_t { values, plan };

/// Returns the problems of a TOML text, capped by cap_problems(), as "name:line:column: sentence"; problems
/// without a position begin with "name: ". Sets `out` if there are no problems.
std::vector<std::string> parse_config(const std::string& text, const std::string& name,
                                      const Registry& registry, Config& out,
                                      GraphCheck check = GraphCheck::values);

/// Returns a file's text. Throws Error(invalid_config) if the file cannot be read, is larger than
/// kMaxConfigBytes or is not of kind `kind`.
std::string read_config_text(const std::string& path, FileKind kind = FileKind::any);

/// Reads and checks a file. Throws Error(invalid_config) if read_config_text() does, or with the problems of
/// parse_config(), one per line.
Config load_config(const std::string& path, const Registry& registry, FileKind kind = FileKind::any,
                   GraphCheck check = GraphCheck::plan);

/// Overwrites `base` with the values that `later` sets. A graph in `later` replaces the whole graph of
/// `base`.
void merge(Config& base, const Config& later);

}  // namespace lensd
