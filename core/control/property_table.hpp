// The properties of lensd ctl and HTTP that do not belong to a node, such as pause, speed and source.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/control/properties.hpp"

namespace lensd {

/// Appends the command that sets the property to the vector. Returns an empty string, or why the value is
/// refused.
using PropertySetter = std::string (*)(const ControlView&, const Json&, std::vector<Command>&);

struct Property {
  const char* name;
  const char* doc;
  Json (*get)(const ControlView&);
  PropertySetter set;  ///< null: read only
};

/// Returns all properties that do not belong to a node.
std::span<const Property> property_table();

/// Returns the property of this name, or null.
const Property* find_property(const std::string& name);

/// Returns a control's value; null if it is write-only.
Json control_json(const SourceControl& control);
/// Returns a value of a control. Returns integers as text if the control's range contains integers that a
/// double cannot represent exactly.
Json control_json(const SourceControl& control, const ParamValue& value);

/// Returns the value of a boolean, or of the text "true", "false", "yes" or "no" (as in mpv); nullopt for
/// anything else.
std::optional<bool> boolean_from_json(const Json& value);
/// Error message for values that are not booleans.
constexpr const char* kExpectedBoolean = "expected true or false";

}  // namespace lensd
