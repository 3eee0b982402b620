// The target of an HTTP request.
#pragma once

#include <string_view>

#include "core/control/http/http_message.hpp"

namespace lensd {

/// Splits and decodes "/path?name=value&…" into the path and query of `request`. Returns false if `target`
/// does not start with "/" or contains a malformed escape.
bool parse_target(std::string_view target, HttpRequest& request);

}  // namespace lensd
