// Lists the modes of a camera.
#pragma once

#include <vector>

#include "core/media/camera/v4l2_device.hpp"
#include "core/media/cameras.hpp"

namespace lensd {

/// Returns all formats of an open camera with their sizes and rates. For a range of sizes or rates,
/// lists its ends and the common values inside it, and the size of the input's signal. If the device fails,
/// the list is incomplete and device.error() is an error for which not_offered() is false.
std::vector<CameraFormat> camera_formats(V4l2Device& device, const v4l2_capability& capability);

}  // namespace lensd
