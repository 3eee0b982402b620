#include "core/media/camera/v4l2_modes.hpp"

#include <algorithm>
#include <functional>

#include "core/media/camera/v4l2_formats.hpp"

namespace lensd {
namespace {

/// Maximum number of entries of a list to query. A faulty driver's list might not end.
constexpr uint32_t kMaxEntries = 256;
constexpr Extent kCommonSizes[] = {{3840, 2160}, {2560, 1440}, {1920, 1080}, {1280, 720},
                                   {1024, 768},  {800, 600},   {640, 480},   {320, 240}};
constexpr double kCommonRates[] = {120, 60, 50, 30, 25, 24, 15, 10, 5};

double per_second(const v4l2_fract& interval) {
  return interval.numerator ? static_cast<double>(interval.denominator) / interval.numerator : 0;
}

/// Reads the rates of a mode that has a size.
void read_rates(V4l2Device& device, uint32_t code, CameraMode& mode) {
  v4l2_frmivalenum entry = {};
  entry.pixel_format = code;
  entry.width = static_cast<uint32_t>(mode.size.width),
  entry.height = static_cast<uint32_t>(mode.size.height);
  for (; entry.index < kMaxEntries && device.query(VIDIOC_ENUM_FRAMEINTERVALS, entry); ++entry.index) {
    if (entry.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
      mode.rates.push_back(per_second(entry.discrete));
      continue;
    }
    // The shortest interval is the highest rate.
    const double low = per_second(entry.stepwise.max), high = per_second(entry.stepwise.min);
    mode.rates.insert(mode.rates.end(), {high, low});
    if (low <= 0 || low >= high) break;
    mode.lowest_rate = low, mode.highest_rate = high;
    for (const double rate : kCommonRates)
      if (rate > low * 1.01 && rate < high * 0.99) mode.rates.push_back(rate);
    break;
  }
  std::sort(mode.rates.rbegin(), mode.rates.rend());
}

Extent extent(uint32_t width, uint32_t height) {
  return {static_cast<int>(width), static_cast<int>(height)};
}

/// Clamps `value` to the range and rounds it down to a step.
int fitted(int value, int low, int high, int step) {
  const int inside = std::clamp(value, low, std::max(low, high));
  return inside - (step > 1 ? (inside - low) % step : 0);
}

/// Returns the size of the current timings, of the TV standard or, if the input has neither, of the current
/// format. Returns an empty size if the device reports none of them.
Extent input_size(V4l2Device& device, uint32_t type) {
  v4l2_dv_timings timings = {};
  if (device.query(VIDIOC_G_DV_TIMINGS, timings) && timings.bt.width > 0 && timings.bt.height > 0)
    return extent(timings.bt.width, timings.bt.height);
  v4l2_std_id standard = 0;
  if (device.query(VIDIOC_G_STD, standard)) {
    const bool lines_525 = (standard & V4L2_STD_525_60) != 0, lines_625 = (standard & V4L2_STD_625_50) != 0;
    if (lines_525 != lines_625) return {720, lines_525 ? 480 : 576};
  }
  v4l2_format format = {};
  format.type = type;
  if (!device.query(VIDIOC_G_FMT, format)) return {};
  return type == V4L2_BUF_TYPE_VIDEO_CAPTURE ? extent(format.fmt.pix.width, format.fmt.pix.height)
                                             : extent(format.fmt.pix_mp.width, format.fmt.pix_mp.height);
}

/// Adds the sizes of a format without their rates.
void read_sizes(V4l2Device& device, uint32_t type, CameraFormat& format) {
  std::vector<Extent> sizes;
  v4l2_frmsizeenum entry = {};
  entry.pixel_format = format.code;
  for (; entry.index < kMaxEntries && device.query(VIDIOC_ENUM_FRAMESIZES, entry); ++entry.index) {
    if (entry.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
      sizes.push_back(extent(entry.discrete.width, entry.discrete.height));
      continue;
    }
    const v4l2_frmsize_stepwise& range = entry.stepwise;
    format.range = {extent(range.min_width, range.min_height), extent(range.max_width, range.max_height),
                    extent(range.step_width, range.step_height)};
    sizes.push_back(format.range->max);
    for (const Extent size : kCommonSizes)
      if (format.range->contains(size)) sizes.push_back(size);
    sizes.push_back(format.range->min);
    if (const Extent size = input_size(device, type); size.width > 0 && size.height > 0) {
      const auto& [min, max, step] = *format.range;
      format.own_size = {fitted(size.width, min.width, max.width, step.width),
                         fitted(size.height, min.height, max.height, step.height)};
      sizes.push_back(format.own_size);
    }
    break;
  }
  std::ranges::stable_sort(sizes, std::greater<>(), area);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const Extent size : sizes) format.modes.push_back({size, {}});
}

}  // namespace

std::vector<CameraFormat> camera_formats(V4l2Device& device, const v4l2_capability& capability) {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc entry = {};
  entry.type = node_capabilities(capability) & V4L2_CAP_VIDEO_CAPTURE ? V4L2_BUF_TYPE_VIDEO_CAPTURE
                                                                      : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  for (; entry.index < kMaxEntries && device.query(VIDIOC_ENUM_FMT, entry); ++entry.index) {
    const CameraFormatEntry* known = find_camera_format(entry.pixelformat);
    CameraFormat format{entry.pixelformat,
                        fourcc_text(entry.pixelformat),
                        v4l2_text(entry.description),
                        known ? known->name : "",
                        {}};
    read_sizes(device, entry.type, format);
    for (CameraMode& mode : format.modes) read_rates(device, format.code, mode);
    formats.push_back(std::move(format));
  }
  return formats;
}

}  // namespace lensd
