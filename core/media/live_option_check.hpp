// Checks options of live sources without opening one, for lensd check.
#pragma once

#include <string>

#include "core/media/source.hpp"

namespace lensd {

/// Throws Error(invalid_config) if an option of `live` is unknown or does not fit sources such as `url`. Does
/// not check the address. Does nothing for sources that are not live.
void check_live_options(const std::string& url, const LiveOptions& live);

}  // namespace lensd
