// The counts under the mouse pointer as text, for the scopes' tooltips.
#pragma once

#include <string>

#include "core/graph/scope_request.hpp"

namespace lensd::ui {

/// Returns the level at a position of the scope's plot, and the number of pixels that have it. `x` (to the
/// right) and `y` (upwards) are from 0 to 1. Empty if the reading is incomplete.
std::string scope_tip(const ScopeReading& reading, float x, float y);

}  // namespace lensd::ui
