// The target of an HTTP request.
#pragma once

#include <string_view>

#include "core/control/http/http_message.hpp"

namespace lensd {

/// Splits "/path?name=value&…" and decodes it into `request`. Returns false if it is not a path, or if an
/// escape is malformed.
bool parse_target(std::string_view target, HttpRequest& request);

}  // namespace lensd
