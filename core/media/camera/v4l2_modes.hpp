// What a camera offers, and which of it lensd takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"
#include "core/media/cameras.hpp"

namespace lensd {

/// All formats of an open camera with their sizes and rates. Of a range of sizes, its ends and the common
/// sizes inside it are listed.
std::vector<CameraFormat> camera_formats(V4l2Device& device, const v4l2_capability& capability);

struct RequestedMode {
  std::string format;  ///< CameraFormat::format; empty: any
  Extent size;         ///< empty: any
  double rate = 0;     ///< frames per second; 0: any, preferably kPreferredRate or more
};

struct ChosenMode {
  uint32_t code = 0;
  Extent size;      ///< empty: the driver lists none, keep its own
  double rate = 0;  ///< 0: the driver lists none, keep its own
};

inline constexpr double kPreferredRate = 30;

/// The largest mode that reaches the requested rate; if none does, the largest of the fastest. Among equals,
/// pictures that need no decoder come before compressed ones. A requested size or rate that is not listed is
/// still chosen: the driver takes its nearest. Returns nullopt if no format fits.
std::optional<ChosenMode> choose_mode(const std::vector<CameraFormat>& formats, const RequestedMode& request);

}  // namespace lensd
