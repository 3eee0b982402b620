#include "core/media/camera/mode_choice.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/media/camera/v4l2_formats.hpp"

namespace lensd {
namespace {

/// 29.97 counts as 30.
constexpr double kRateTolerance = 0.99;

/// Returns the area that only one of two pictures covers if both have the same top left corner. Source:
/// Linux, uvc_v4l2_try_format() in drivers/media/usb/uvc.
int64_t size_distance(Extent a, Extent b) {
  return area(a) + area(b) - 2 * area({std::min(a.width, b.width), std::min(a.height, b.height)});
}

bool meets(const CameraFormat& format, const RequestedMode& request) {
  if (format.format.empty()) return false;
  return request.format.empty() || request.format == format.format || request.format == format.fourcc;
}

/// Returns the modes of `format` with this size. An unlisted size in the format's range has the rates of the
/// next larger listed size.
std::vector<CameraMode> modes_with(const CameraFormat& format, Extent size) {
  if (format.modes.empty()) return {CameraMode{size, {}}};
  if (size.width <= 0) return format.modes;
  std::vector<CameraMode> modes;
  for (const CameraMode& mode : format.modes)
    if (mode.size == size) modes.push_back(mode);
  if (!modes.empty() || !format.range || !format.range->contains(size)) return modes;
  CameraMode unlisted = format.modes.front();
  for (const CameraMode& mode : format.modes)
    if (area(mode.size) >= area(size)) unlisted = mode;
  unlisted.size = size;
  return {unlisted};
}

int rank_of(uint32_t code) {
  const CameraFormatEntry* entry = find_camera_format(code);
  return entry ? entry->rank : 0;
}

/// Returns the lowest rate of the mode that reaches `preferred`, or the highest one if none does. Returns 0
/// if the mode lists no rate.
double best_rate(const CameraMode& mode, double preferred) {
  if (mode.lowest_rate > 0) return std::clamp(preferred, mode.lowest_rate, mode.highest_rate);
  double best = mode.rates.empty() ? 0 : mode.rates.front();
  for (const double rate : mode.rates)
    if (rate >= preferred * kRateTolerance) best = rate;
  return best;
}

bool has_rate(const CameraMode& mode, double rate) {
  const auto equal = [&](double own) { return std::abs(own - rate) < 0.01 * rate; };
  return rate <= 0 || mode.rates.empty() || std::ranges::any_of(mode.rates, equal) ||
         (rate >= mode.lowest_rate && rate <= mode.highest_rate);
}

/// A higher score is better. In order: nearest size, rate up to the preferred one, largest size, rank of the
/// format.
using Score = std::tuple<int64_t, double, int64_t, int>;

}  // namespace

std::optional<ChosenMode> choose_mode(const std::vector<CameraFormat>& formats,
                                      const RequestedMode& request) {
  const double preferred = request.rate > 0 ? request.rate : kPreferredRate;
  const bool any_size = request.size.width <= 0;
  std::optional<ChosenMode> best;
  Score best_score;
  for (const CameraFormat& format : formats) {
    if (!meets(format, request)) continue;
    std::vector<CameraMode> modes = modes_with(format, any_size ? format.own_size : request.size);
    if (modes.empty()) modes = format.modes;
    for (const CameraMode& mode : modes) {
      const double rate = best_rate(mode, preferred);
      const bool reached = rate <= 0 || rate >= preferred * kRateTolerance;
      const Score score{any_size ? 0 : -size_distance(mode.size, request.size), reached ? preferred : rate,
                        area(mode.size), -rank_of(format.code)};
      if (best && score <= best_score) continue;
      best_score = score;
      // Request an unlisted rate unchanged: the driver uses its nearest one.
      const bool keep_rate = request.rate > 0 && mode.lowest_rate <= 0;
      best = ChosenMode{format.code, any_size ? mode.size : request.size, keep_rate ? request.rate : rate};
    }
  }
  return best;
}

bool offers_mode(const std::vector<CameraFormat>& formats, const RequestedMode& request) {
  return std::ranges::any_of(formats, [&](const CameraFormat& format) {
    if (!meets(format, request)) return false;
    const std::vector<CameraMode> modes = modes_with(format, request.size);
    return std::ranges::any_of(modes, [&](const CameraMode& mode) { return has_rate(mode, request.rate); });
  });
}

}  // namespace lensd
