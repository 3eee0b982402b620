// Checks configuration values with other parts of the program, for example encoders, receivers and the HTTP
// server.
#pragma once

#include <string>
#include <string_view>

#include "core/config/config.hpp"

namespace lensd {

/// Makes config_problems() check [record] codec against `path`, the file of --record; empty: none. Call
/// before any thread reads a configuration. Throws Error(usage) as check_record_name() does.
void set_recorded_file(const std::string& path);

/// Returns the problems of the values in `config`. Pass this function to set_config_check().
std::vector<ConfigProblem> config_problems(const Config& config);

/// Returns config_problems(), the options in [source] that do not fit its `url`, and the reason if the token
/// of the HTTP server cannot be read from its file. For `lensd check`: runs may open other sources, and read
/// the file only if they open the server.
std::vector<ConfigProblem> config_and_file_problems(const Config& config);

/// Returns the token in the first line of the file. Throws Error(invalid_config) if the file cannot be read
/// or has no valid token.
std::string read_token(const std::string& path);

/// Returns why `token` cannot be the token of the HTTP server, or an empty string. It must be valid both as a
/// bearer token (RFC 6750) and as a cookie's value (RFC 6265).
std::string token_problem(std::string_view token);

}  // namespace lensd
