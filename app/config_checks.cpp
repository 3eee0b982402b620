#include "app/config_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "app/cli.hpp"
#include "app/pipeline/flight_recorder.hpp"
#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/whole_file.hpp"
#include "core/control/http/http_access.hpp"
#include "core/media/live_option_check.hpp"
#include "core/media/recording.hpp"
#include "core/media/stream_output.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {
namespace {

class Problems {
 public:
  explicit Problems(const Config& config) : config_(config) {}

  /// Runs `step` if `key` is set, and records the Error that it throws.
  template <class F>
  void check(const char* key, F step) {
    if (!config_.has(key)) return;
    try {
      step();
    } catch (const Error& e) {
      // Drop where() if it is the key or a command-line option. Keep other locations, such as file names.
      const bool of_key = e.where() == key || e.where().starts_with("--");
      all.push_back({key, of_key ? Error(e.code(), "", e.problem(), e.hint()).what() : e.what()});
    }
  }

  std::vector<ConfigProblem> all;

 private:
  const Config& config_;
};

/// The file of --record; empty: none.
std::string& recorded_file() {
  static std::string file;
  return file;
}

void check_recording(Problems& p, const Config& c) {
  RecordSettings record;
  record.name = c.record_name;
  p.check("record.name", [&] { check_record_settings(record); });
  const bool name_is_wrong = !p.all.empty();
  record.encoder.codec = c.record_codec;
  if (!recorded_file().empty()) {
    const size_t before = p.all.size();
    p.check("record.codec", [&] {
      RecordSettings given = record;
      given.name = recorded_file();
      check_record_request(given);
    });
    // Without record.name, the default name is not used. After a problem with --record, do not report the
    // codec a second time.
    if (!c.has("record.name") || p.all.size() > before) return;
  }
  p.check("record.codec", [&] {
    check_record_codec(c.record_codec);  // first, because its message names no file
    if (!name_is_wrong) check_record_settings(record);
  });
}

/// Checks the options in [source] that need its `url`. Reports each problem under its key.
void check_source_options(Problems& p, const Config& c) {
  const std::string url = without_file_scheme(c.source_url);
  const auto allowed = [&](const char* key, const LiveOptions& live) {
    const size_t before = p.all.size();
    p.check(key, [&] { check_live_options(url, live); });
    return p.all.size() == before;
  };
  LiveOptions live;
  live.format = c.source_format;
  if (allowed("source.format", live)) {
    live.extra = parse_options(c.source_options);
    allowed("source.options", live);
  }
  LiveOptions shape;
  shape.size = parse_size(c.source_size);
  allowed("source.size", shape);
  LiveOptions paced;
  paced.rate = c.source_rate;
  allowed("source.rate", paced);
}

}  // namespace

void set_recorded_file(const std::string& path) {
  if (!path.empty()) check_record_name(path);
  recorded_file() = path;
}

std::vector<ConfigProblem> config_problems(const Config& c) {
  Problems p(c);
  check_recording(p, c);
  const std::string target = without_file_scheme(c.output_url);
  p.check("output.url", [&] {
    if (!target.empty()) check_stream_url(target, tls_check(c.output_tls));
  });
  p.check("output.codec", [&] {
    const bool valid = p.all.empty() || p.all.back().key != "output.url";
    check_stream_codec(valid ? target : "", c.output_codec);
  });
  p.check("output.virtual_camera", [&] {
    if (!c.output_virtual_camera.empty()) check_virtual_camera_name(c.output_virtual_camera);
  });
  p.check("source.url", [&] {
    if (c.source_url.size() > kMaxUrlBytes)
      throw Error(ExitCode::invalid_config, "source.url",
                  fmt::format("has {} bytes, the limit is {}", c.source_url.size(), kMaxUrlBytes));
  });
  p.check("source.size", [&] { parse_size(c.source_size); });
  p.check("source.options", [&] { parse_options(c.source_options); });
  p.check("performance.trace_on", [&] { parse_trace_trigger(c.trace_on); });
  if (const std::string problem = token_problem(c.http_token); !c.http_token.empty() && !problem.empty())
    p.all.push_back({"http.token", problem});
  if (c.http_address.empty())
    p.all.push_back({"http.address", "is empty (use 127.0.0.1, or 0.0.0.0 to listen on all addresses)"});
  else if (!c.http_auth && !is_loopback(c.http_address))
    p.all.push_back(
        {"http.auth",
         "false is allowed for loopback addresses only (listen on 127.0.0.1, or keep the token)"});
  return p.all;
}

std::vector<ConfigProblem> config_and_file_problems(const Config& config) {
  std::vector<ConfigProblem> all = config_problems(config);
  const bool source_is_valid = std::ranges::none_of(
      all, [](const ConfigProblem& problem) { return problem.key.starts_with("source."); });
  if (source_is_valid && config.has("source.url")) {
    Problems source(config);
    check_source_options(source, config);
    std::ranges::move(source.all, std::back_inserter(all));
  }
  if (config.http_token_file.empty() || !config.http_token.empty()) return all;
  try {
    read_token(config.http_token_file);
  } catch (const Error& e) {
    all.push_back({"http.token_file", Error(e.code(), e.where(), e.problem()).what()});
  }
  return all;
}

std::string read_token(const std::string& path) try {
  constexpr size_t kMaxBytes = 64 * 1024;  // maximum size of the file; only its first line is used
  const auto text = read_whole_file(path, kMaxBytes);
  if (!text) throw Error(ExitCode::invalid_config, path, "cannot be read: no such file");
  std::string token = *text;
  token.resize(std::min(token.find('\n'), token.size()));
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  if (const std::string problem = token_problem(token); !problem.empty())
    throw Error(ExitCode::invalid_config, path, "the token in its first line " + problem);
  return token;
} catch (const Error& e) {
  throw Error(ExitCode::invalid_config, e.where(), e.problem(), "check [http] token_file");
}

std::string token_problem(std::string_view token) {
  if (token.size() < 8) return "is shorter than 8 characters";
  const size_t end = token.find_last_not_of('=') + 1;
  const bool valid = std::all_of(token.begin(), token.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("-._~+/").find(c) != std::string_view::npos;
  });
  return valid && end > 0 ? "" : "may have letters, digits and -._~+/ only, and = at its end";
}

}  // namespace lensd
