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
  uint32_t id = 0;    ///< the driver's number
  std::string name;   ///< as in v4l2-ctl: "exposure_time_absolute"
  std::string label;  ///< the driver's text: "Exposure Time, Absolute"
  std::string group;  ///< "Camera Controls"; may be empty
  ControlKind kind = ControlKind::integer;
  int64_t min = 0, max = 0, step = 1;  ///< of integers; `max` of a bitmask: all its bits; of a text: lengths
  std::vector<std::string> choices;    ///< of a menu
  std::vector<int64_t> numbers;        ///< the driver's number of each choice
  ParamValue value, initial;           ///< `initial`: the driver's default
  bool inactive = false;               ///< another control, such as automatic exposure, overrides it
  bool read_only = false;
  bool write_only = false;     ///< the driver returns no value
  bool self_changing = false;  ///< the device changes the value, without events
  bool wide = false;           ///< an integer of 64 bits
  bool leads = false;          ///< a change may change other controls: set it before them

  bool operator==(const SourceControl&) const = default;
};

/// The name of a control, by the rule of v4l2-ctl: "Exposure Time, Absolute" → "exposure_time_absolute".
std::string control_name(std::string_view label);

/// "a whole number 1 to 10000", "one of Manual Mode, Aperture Priority Mode".
std::string allowed_values(const SourceControl& control);

/// The value as text; bitmasks in hexadecimal.
std::string control_text(const SourceControl& control, const ParamValue& value);

}  // namespace lensd
