// Chooses one of the modes that a camera offers. Plain functions without a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/media/cameras.hpp"

namespace lensd {

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
/// enough. A format without listed sizes counts as having every size. If no size is requested, only
/// CameraFormat::own_size of a range of sizes is considered. Among equal modes, the format with the lowest
/// CameraFormatEntry::rank is preferred.
///
/// If no format has the requested size, chooses the format with the nearest size but keeps the requested one,
/// because the driver then uses its nearest size. Does the same for rates, which are limited to the ends of a
/// range. Returns nullopt if lensd reads none of the formats, or if the requested one is not among them.
std::optional<ChosenMode> choose_mode(const std::vector<CameraFormat>& formats, const RequestedMode& request);

/// Returns true if a format that lensd reads has a mode with the requested format, size and rate.
bool offers_mode(const std::vector<CameraFormat>& formats, const RequestedMode& request);

}  // namespace lensd
