// The controls of a Video4Linux device, converted from the kernel's structures.
//
// Compound controls and arrays are left out: they hold no value that a person could set.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

/// Returns the text of a menu's item, or its number for an integer menu; an empty string if there is none.
using MenuItem = std::function<std::string(uint32_t index)>;

/// Returns the control without its value. Returns false for types that are not supported.
bool describe_control(const v4l2_query_ext_ctrl& query, const MenuItem& item, SourceControl& out);
/// Takes over what may change while the device is open: flags, range and default.
void update_control(const v4l2_query_ext_ctrl& query, SourceControl& control);
ParamValue control_value(const SourceControl& control, int64_t raw);

/// Returns all controls of an open device with their values.
std::vector<SourceControl> read_controls(V4l2Device& device);

}  // namespace lensd
