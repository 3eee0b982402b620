// A control of a source, such as a camera's exposure: its allowed values and its current value.
//
// Plain values; copy freely between threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/param.hpp"

namespace lensd {

enum class ControlKind : uint8_t { integer, boolean, menu, button, bitmask, text };

/// Types of `value` and `initial` by kind: bool (boolean, button), int64_t (integer, bitmask), std::string
/// (menu: the choice, text).
struct SourceControl {
  uint32_t id = 0;    ///< V4L2 control ID
  std::string name;   ///< as in v4l2-ctl: "exposure_time_absolute"
  std::string label;  ///< the driver's text: "Exposure Time, Absolute"
  std::string group;  ///< "Camera Controls"; may be empty
  ControlKind kind = ControlKind::integer;
  int64_t min = 0, max = 0, step = 1;  ///< integer: range; text: lengths; bitmask: `max` has all bits set
  std::vector<std::string> choices;    ///< menu: the entries
  std::vector<int64_t> numbers;        ///< menu: the driver's index of each entry
  ParamValue value, initial;           ///< `initial`: the driver's default
  bool inactive = false;               ///< another control, such as automatic exposure, overrides it
  bool read_only = false;
  bool write_only = false;     ///< the driver returns no value
  bool self_changing = false;  ///< the device changes the value without sending events
  bool wide = false;           ///< 64-bit integer
  bool leads = false;          ///< setting it may change other controls, so set it first

  bool operator==(const SourceControl&) const = default;
};

/// Returns a control's name as v4l2-ctl does: "exposure_time_absolute" for "Exposure Time, Absolute".
std::string control_name(std::string_view label);

/// Returns the allowed values as text, for example "a whole number 1 to 10000" or "one of Manual Mode,
/// Aperture Priority Mode".
std::string allowed_values(const SourceControl& control);

/// Returns the value as text. Bitmasks are hexadecimal.
std::string control_text(const SourceControl& control, const ParamValue& value);

}  // namespace lensd
