// The controls of a Video4Linux device, converted from the kernel's structures.
//
// Omits compound controls and arrays, because a user cannot set their values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

/// Returns the text of the menu entry `index`. For an integer menu, returns the value as text. Returns an
/// empty string if there is no such entry.
using MenuItem = std::function<std::string(uint32_t index)>;

/// Describes the control in `out`, without its current value. Returns false if the control is disabled, is an
/// array, has an unsupported type or has an empty menu.
bool describe_control(const v4l2_query_ext_ctrl& query, const MenuItem& item, SourceControl& out);
/// Updates what may change while the device is open: flags and, except for menus, range and default.
void update_control(const v4l2_query_ext_ctrl& query, SourceControl& control);
ParamValue control_value(const SourceControl& control, int64_t raw);

/// Reads the control's value. Keeps the old value if the driver returns none.
void read_value(V4l2Device& device, SourceControl& control);
/// Sets a value that check_control() has converted. Returns false if the driver refuses it, with the reason
/// in V4l2Device::error().
bool write_value(V4l2Device& device, const SourceControl& control, const ParamValue& value);
/// Reads the flags and, except for menus, range and default. Keeps the old ones if the request fails.
void refresh_limits(V4l2Device& device, SourceControl& control);
/// Reads what may change while the device is open: flags, range, default and a menu's entries.
void refresh_description(V4l2Device& device, SourceControl& control);

/// Returns the supported controls of an open device with their values. Omits controls that the device fails
/// to describe.
std::vector<SourceControl> read_controls(V4l2Device& device);

}  // namespace lensd
