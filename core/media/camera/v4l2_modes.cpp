#include "core/media/camera/v4l2_modes.hpp"

#include <algorithm>
#include <tuple>

#include "core/media/camera/v4l2_formats.hpp"

namespace lensd {
namespace {

/// Maximum number of entries of a list to query. A faulty driver's list might not end.
constexpr uint32_t kMostEntries = 256;
constexpr Extent kCommonSizes[] = {{3840, 2160}, {2560, 1440}, {1920, 1080}, {1280, 720},
                                   {1024, 768},  {800, 600},   {640, 480},   {320, 240}};
/// 29.97 counts as 30.
constexpr double kRateTolerance = 0.99;

double per_second(const v4l2_fract& interval) {
  return interval.numerator ? static_cast<double>(interval.denominator) / interval.numerator : 0;
}

int64_t area(Extent size) {
  return int64_t{size.width} * size.height;
}

std::vector<double> rates_of(V4l2Device& device, uint32_t code, Extent size) {
  std::vector<double> rates;
  v4l2_frmivalenum entry = {};
  entry.pixel_format = code;
  entry.width = static_cast<uint32_t>(size.width), entry.height = static_cast<uint32_t>(size.height);
  for (; entry.index < kMostEntries && device.query(VIDIOC_ENUM_FRAMEINTERVALS, entry); ++entry.index) {
    if (entry.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
      rates.push_back(per_second(entry.discrete));
      continue;
    }
    rates.push_back(per_second(entry.stepwise.min));  // both ends of a range
    rates.push_back(per_second(entry.stepwise.max));
    break;
  }
  std::sort(rates.rbegin(), rates.rend());
  return rates;
}

bool contains(const v4l2_frmsize_stepwise& range, Extent size) {
  const auto inside = [](uint32_t value, uint32_t low, uint32_t high, uint32_t step) {
    return value >= low && value <= high && (step < 2 || (value - low) % step == 0);
  };
  return inside(static_cast<uint32_t>(size.width), range.min_width, range.max_width, range.step_width) &&
         inside(static_cast<uint32_t>(size.height), range.min_height, range.max_height, range.step_height);
}

std::vector<Extent> sizes_of(V4l2Device& device, uint32_t code) {
  const auto extent = [](uint32_t width, uint32_t height) {
    return Extent{static_cast<int>(width), static_cast<int>(height)};
  };
  std::vector<Extent> sizes;
  v4l2_frmsizeenum entry = {};
  entry.pixel_format = code;
  for (; entry.index < kMostEntries && device.query(VIDIOC_ENUM_FRAMESIZES, entry); ++entry.index) {
    if (entry.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
      sizes.push_back(extent(entry.discrete.width, entry.discrete.height));
      continue;
    }
    sizes.push_back(extent(entry.stepwise.max_width, entry.stepwise.max_height));
    for (const Extent size : kCommonSizes)
      if (contains(entry.stepwise, size)) sizes.push_back(size);
    sizes.push_back(extent(entry.stepwise.min_width, entry.stepwise.min_height));
    break;
  }
  std::ranges::stable_sort(sizes, [](Extent a, Extent b) { return area(a) > area(b); });
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool meets(const CameraFormat& format, const RequestedMode& request) {
  if (format.format.empty()) return false;
  return request.format.empty() || request.format == format.format || request.format == format.fourcc;
}

int rank_of(uint32_t code) {
  const CameraFormatEntry* entry = find_camera_format(code);
  return entry ? entry->rank : 0;
}

/// Higher is better. Compares the rate, limited to the preferred one, then the size, then the format's rank.
using Score = std::tuple<double, int64_t, int>;

Score score_of(const CameraFormat& format, const CameraMode& mode, double rate, double preferred) {
  const bool reached = rate <= 0 || rate >= preferred * kRateTolerance;
  return {reached ? preferred : rate, area(mode.size), -rank_of(format.code)};
}

/// Returns the lowest listed rate that reaches `preferred`, or the highest one if none does. Returns 0 if no
/// rate is listed. `rates`: highest first.
double best_rate(const std::vector<double>& rates, double preferred) {
  double best = rates.empty() ? 0 : rates.front();
  for (const double rate : rates)
    if (rate >= preferred * kRateTolerance) best = rate;
  return best;
}

}  // namespace

std::vector<CameraFormat> camera_formats(V4l2Device& device, const v4l2_capability& capability) {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc entry = {};
  entry.type = node_capabilities(capability) & V4L2_CAP_VIDEO_CAPTURE ? V4L2_BUF_TYPE_VIDEO_CAPTURE
                                                                      : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  for (; entry.index < kMostEntries && device.query(VIDIOC_ENUM_FMT, entry); ++entry.index) {
    const CameraFormatEntry* known = find_camera_format(entry.pixelformat);
    CameraFormat format{entry.pixelformat,
                        fourcc_text(entry.pixelformat),
                        v4l2_text(entry.description),
                        known ? known->name : "",
                        {}};
    for (const Extent size : sizes_of(device, entry.pixelformat))
      format.modes.push_back({size, rates_of(device, entry.pixelformat, size)});
    formats.push_back(std::move(format));
  }
  return formats;
}

std::optional<ChosenMode> choose_mode(const std::vector<CameraFormat>& formats,
                                      const RequestedMode& request) {
  const double preferred = request.rate > 0 ? request.rate : kPreferredRate;
  const bool any_size = request.size.width <= 0;
  std::optional<ChosenMode> best;
  Score best_score;
  for (const CameraFormat& format : formats) {
    if (!meets(format, request)) continue;
    std::vector<CameraMode> modes;
    for (const CameraMode& mode : format.modes)
      if (any_size || mode.size == request.size) modes.push_back(mode);
    if (modes.empty()) modes.push_back({request.size, {}});
    for (const CameraMode& mode : modes) {
      const double rate = best_rate(mode.rates, preferred);
      const Score score = score_of(format, mode, rate, preferred);
      if (best && score <= best_score) continue;
      best_score = score;
      best = ChosenMode{format.code, mode.size, request.rate > 0 ? request.rate : rate};
    }
  }
  return best;
}

}  // namespace lensd
