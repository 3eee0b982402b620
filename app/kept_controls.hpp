// The control values that were set for each camera, as tables [controls.CAMERA] of a state file.
//
// Invalid entries are ignored.
#pragma once

#include <string>

#include "core/config/toml.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

inline constexpr size_t kMaxCameras = 50;

/// Stores the values of a camera. Removes the camera if `values` is empty. Ignores a new camera if
/// kMaxCameras are stored.
void remember_controls(KeptControls& kept, const std::string& camera, const ControlValues& values);

/// Returns the tables below `controls` of a state file.
KeptControls parse_kept_controls(const toml::table& root);
/// Returns the tables as text, each after an empty line.
std::string to_toml(const KeptControls& kept);

}  // namespace lensd
