// Lists the modes of a camera and chooses one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"
#include "core/media/cameras.hpp"

namespace lensd {

/// Returns all formats of an open camera with their sizes and rates. For a range of sizes, lists its ends and
/// the common sizes inside it; for a range of rates, its ends. If the device fails, the list is incomplete
/// and device.error() is an error for which not_offered() is false.
std::vector<CameraFormat> camera_formats(V4l2Device& device, const v4l2_capability& capability);

struct RequestedMode {
  std::string format;  ///< CameraFormat::format or ::fourcc; empty: any
  Extent size;         ///< empty: any
  double rate = 0;     ///< frames per second; 0: any, preferably kPreferredRate or more
};

struct ChosenMode {
  uint32_t code = 0;
  Extent size;      ///< empty: the driver lists no size; keep its current one
  double rate = 0;  ///< 0: the driver lists no rate; keep its current one
};

inline constexpr double kPreferredRate = 30;

/// Returns the largest mode that reaches the requested rate or, if none is requested, kPreferredRate. If no
/// mode does, returns the largest of those with the highest rate. A mode without listed rates counts as fast
/// enough. CameraFormatEntry::rank decides between equals. A requested size or rate that is not listed is
/// still chosen, because the driver then uses its nearest one. Returns nullopt if lensd reads none of the
/// formats, or if the requested one is not among them.
std::optional<ChosenMode> choose_mode(const std::vector<CameraFormat>& formats, const RequestedMode& request);

}  // namespace lensd
