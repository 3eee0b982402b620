#include "app/config_checks.hpp"

#include "app/cli.hpp"
#include "app/pipeline/flight_recorder.hpp"
#include "core/base/error.hpp"
#include "core/control/http/http_access.hpp"
#include "core/media/recording.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {
namespace {

class Problems {
 public:
  /// Runs a check that throws Error; the sentence is told of `key`.
  template <class F>
  void check(const char* key, bool given, F step) {
    if (!given) return;
    try {
      step();
    } catch (const Error& e) {
      // The key is the place; values stay, as the names of files.
      const bool of_key = e.where() == key || e.where().starts_with("--");
      all.push_back({key, of_key ? Error(e.code(), "", e.problem(), e.hint()).what() : e.what()});
    }
  }

  std::vector<ConfigProblem> all;
};

}  // namespace

std::vector<ConfigProblem> config_problems(const Config& c) {
  Problems p;
  RecordSettings record;
  record.name = c.record_name.value_or(record.name);
  p.check("record.name", c.record_name.has_value(), [&] { check_record_settings(record); });
  record.encoder.codec = c.record_codec.value_or("");
  if (p.all.empty())
    p.check("record.codec", c.record_codec.has_value(), [&] { check_record_settings(record); });
  p.check("output.url", !c.output_url.value_or("").empty(), [&] { check_stream_url(*c.output_url); });
  p.check("source.size", c.source_size.has_value(), [&] { parse_size(*c.source_size); });
  p.check("source.options", c.source_options.has_value(), [&] { parse_options(*c.source_options); });
  p.check("performance.trace_on", c.trace_on.has_value(), [&] { parse_trace_trigger(*c.trace_on); });
  if (const std::string token = c.http_token.value_or(""); !token.empty() && token.size() < 8)
    p.all.push_back({"http.token", "is shorter than 8 characters"});
  if (!c.http_auth.value_or(true) && !is_loopback(c.http_address.value_or("127.0.0.1")))
    p.all.push_back(
        {"http.auth", "false is for loopback addresses only (listen on 127.0.0.1, or keep the token)"});
  return p.all;
}

}  // namespace lensd
