// A control of a source, such as a camera's exposure: its allowed values and its current value.
//
// Plain values; copy freely between threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/param.hpp"

namespace lensd {

enum class ControlKind : uint8_t { integer, boolean, menu, button, bitmask, text };

/// Types of `value` and `initial` by kind: bool for boolean and button, int64_t for integer and bitmask,
/// std::string for text and menu (an entry of `choices`).
struct SourceControl {
  uint32_t id = 0;    ///< V4L2 control ID
  std::string name;   ///< as in v4l2-ctl: "exposure_time_absolute"
  std::string label;  ///< the driver's text: "Exposure Time, Absolute"
  std::string group;  ///< V4L2 control class: "Camera Controls"; may be empty
  ControlKind kind = ControlKind::integer;
  int64_t min = 0, max = 0, step = 1;  ///< integer: range; text: bytes; bitmask: `max` has all valid bits
  std::vector<std::string> choices;    ///< menu: the entries
  std::vector<int64_t> numbers;        ///< menu: the driver's index of each entry
  /// menu: further names of entries, each with its entry
  std::vector<std::pair<std::string, std::string>> aliases;
  ParamValue value, initial;  ///< `initial`: the driver's default
  bool inactive = false;      ///< another control, such as automatic exposure, overrides it
  bool read_only = false;
  bool locked = false;         ///< cannot be set while the device streams
  bool write_only = false;     ///< the driver returns no value
  bool self_changing = false;  ///< the device changes the value without sending events
  bool wide = false;           ///< 64-bit integer
  bool leads = false;          ///< setting it may change other controls, so set it first
  bool moves = false;  ///< each write moves the camera or the lens, by an amount or until it is stopped

  bool operator==(const SourceControl&) const = default;
};

/// Returns true if the control may change or override others, as automatic modes do. Not all drivers set
/// SourceControl::leads.
inline bool may_override(const SourceControl& control) noexcept {
  return control.leads || control.kind == ControlKind::boolean || control.kind == ControlKind::menu;
}

/// Returns true if a write is an action rather than a state. Such values are not stored, repeated or
/// combined.
inline bool is_action(const SourceControl& control) noexcept {
  return control.kind == ControlKind::button || control.moves;
}

/// Values of controls, by name.
using ControlValues = std::vector<std::pair<std::string, ParamValue>>;
/// Values of controls by camera, see SourceControls::device.
using KeptControls = std::map<std::string, ControlValues>;

/// All controls of a source at one time.
struct SourceControls {
  /// Identifies the camera across restarts and reconnections: its name in /dev/v4l/by-id, or name and bus.
  std::string device;
  std::vector<SourceControl> list;  ///< in the driver's order
  ControlValues wanted;  ///< values set during this run or an earlier one, applied again after a reconnection
  uint64_t version = 0;  ///< increases with every change

  /// Returns null if there is no such control.
  const SourceControl* find(std::string_view name) const noexcept;
};

/// A value converted to a control's type, or why it is refused.
struct CheckedControl {
  ParamValue value;
  std::string problem;  ///< empty: allowed
};

/// Converts `value` to the control's type and checks it against the control's limits. Parses text as on the
/// command line. A menu accepts an entry's text, an alias, or the driver's number of an entry. Refuses
/// read-only and locked controls.
CheckedControl check_control(const SourceControl& control, const ParamValue& value);

/// Returns the error text for an unknown control, with the closest known name.
std::string unknown_control(const SourceControls& controls, std::string_view name);

/// Replaces the value of `name`, or adds it at the end.
void set_value(ControlValues& values, const std::string& name, ParamValue value);

/// Returns the values that a preset contains: values that the user has set, and values that differ from the
/// driver's default. Unless the user has set them, omits actions, texts, controls that cannot be set or read,
/// and controls that an automatic mode or the device changes.
ControlValues values_to_save(const SourceControls& controls);

/// Returns the name that v4l2-ctl derives from a label: "exposure_time_absolute" for "Exposure Time,
/// Absolute".
std::string control_name(std::string_view label);

/// Returns the allowed values as text, for example "a whole number 1 to 10000" or "one of Manual Mode,
/// Aperture Priority Mode".
std::string allowed_values(const SourceControl& control);

/// Returns the value as text. Bitmasks are hexadecimal.
std::string control_text(const SourceControl& control, const ParamValue& value);

}  // namespace lensd
