// Configuration files: TOML in, checked values out.
//
//   file ── load_config() ──▶ Config ── merge() ──▶ Config ── --set, options ──▶ the run
//
// Everything wrong in a file is reported at once, each with file:line:column; nothing is half applied.
// Plain values; copy freely between threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/graph/graph.hpp"

namespace lensd {

/// What files can say. An empty optional was not said. keys.cpp declares each key of the plain tables.
struct Config {
  std::optional<std::string> source_url, hwdec;  // [source]
  std::optional<std::string> source_format, source_size, source_profile, source_options, rtsp_transport;
  std::optional<double> source_rate, source_open_timeout, source_timeout, source_stall;
  std::optional<GraphDesc> graph;                  // [graph] and [[node]]
  std::optional<int> window_width, window_height;  // [window]
  std::optional<bool> fullscreen, vsync;
  std::optional<std::string> backend;  // [performance]
  std::optional<int> threads, device;
  std::optional<std::string> trace_on;
  std::optional<std::string> log_level, log_file;             // [log]
  std::optional<std::string> control_socket, control_folder;  // [control]
  std::optional<int> control_clients;
  std::optional<std::string> http_address, http_hosts, http_token, http_token_file;  // [http]
  std::optional<int> http_port, http_connections, http_stream_fps;
  std::optional<bool> http_auth;
  std::optional<std::string> record_folder, record_name, record_codec, record_preset;  // [record]
  std::optional<std::string> record_what;
  std::optional<bool> record_on;
  std::optional<int> record_crf, record_bitrate;
  std::optional<double> record_split_seconds, record_split_megabytes, record_keep_minutes,
      record_keep_gigabytes;
  std::optional<double> record_preroll_seconds, record_preroll_megabytes;
  std::optional<std::string> output_url, output_codec, output_preset;  // [output]
  std::optional<int> output_crf, output_bitrate;
};

/// A value that has the right type and range and is wrong all the same.
struct ConfigProblem {
  std::string key;  ///< "record.name"
  std::string sentence;
};
/// What is wrong with values that only other parts of the program can judge, as encoders and file types.
using ConfigCheck = std::vector<ConfigProblem> (*)(const Config&);
/// Asked for every file and for all of them together from now on. Set before any thread reads a
/// configuration.
void set_config_check(ConfigCheck check);
std::vector<ConfigProblem> check_config(const Config& config);

/// Largest file that is read, in bytes.
inline constexpr size_t kMaxConfigBytes = 1 << 20;

/// All that is wrong with a TOML text, a line each, "name:line:column: sentence"; fills `out` when nothing
/// is.
std::vector<std::string> parse_config(const std::string& text, const std::string& name,
                                      const Registry& registry, Config& out);

/// The text of a file. Throws Error(invalid_config) when it cannot be read or is too large.
std::string read_config_text(const std::string& path);

/// Reads and checks a file. Throws Error(invalid_config) with all problems joined by newlines.
Config load_config(const std::string& path, const Registry& registry);

/// Values of `later` win; a graph replaces a graph whole.
void merge(Config& base, const Config& later);

}  // namespace lensd
