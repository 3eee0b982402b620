// Input, TV standard, format, size and rate of a V4l2Capture.
#include <fmt/format.h>

#include <utility>

#include "core/base/log.hpp"
#include "core/media/camera/v4l2_capture.hpp"

namespace lensd {
namespace {

/// Returns the name of `field` if the driver stores the two fields of a picture separately. Returns null for
/// whole pictures and for single fields.
const char* separate_fields(uint32_t field) {
  switch (field) {
    case V4L2_FIELD_ALTERNATE:
      return "V4L2_FIELD_ALTERNATE";
    case V4L2_FIELD_SEQ_TB:
      return "V4L2_FIELD_SEQ_TB";
    case V4L2_FIELD_SEQ_BT:
      return "V4L2_FIELD_SEQ_BT";
    default:
      return nullptr;
  }
}

}  // namespace

void V4l2Capture::refuse_format(const std::vector<CameraFormat>& formats,
                                const std::string& requested) const {
  std::string all, read;
  for (const CameraFormat& format : formats) {
    all += (all.empty() ? "" : ", ") + format.fourcc;
    if (format.format.empty()) continue;
    read += (read.empty() ? "" : ", ") + format.fourcc;
  }
  if (read.empty()) fail("lensd reads none of the camera's formats: " + all);
  for (const CameraFormat& format : formats)
    if (format.fourcc == requested)
      refuse(
          fmt::format("lensd does not read the camera's format {} ({})", format.fourcc, format.description),
          "it reads " + read);
  refuse(fmt::format("the camera has no format '{}'", requested), "lensd reads " + read);
}

void V4l2Capture::select_input(const std::string& number) {
  const bool valid =
      !number.empty() && number.size() < 4 && number.find_first_not_of("0123456789") == std::string::npos;
  int input = valid ? std::stoi(number) : -1;
  if (!valid || !device_.query(VIDIOC_S_INPUT, input)) {
    if (valid && !not_offered(device_.error())) fail(camera_error(device_.error(), path_));
    refuse(fmt::format("the camera has no input '{}'", number), "inputs are numbered from 0");
  }
}

void V4l2Capture::select_standard(const std::string& name) {
  constexpr std::pair<const char*, v4l2_std_id> kStandards[] = {
      {"PAL", V4L2_STD_PAL}, {"NTSC", V4L2_STD_NTSC}, {"SECAM", V4L2_STD_SECAM}};
  for (auto [known, id] : kStandards) {
    if (name != known) continue;
    if (device_.query(VIDIOC_S_STD, id)) return;
    if (!not_offered(device_.error())) fail(camera_error(device_.error(), path_));
  }
  refuse(fmt::format("the camera has no TV standard '{}'", name), "standards are PAL, NTSC and SECAM");
}

/// Requests the camera's current format, changed to the values of `mode` and `field`. Returns the format that
/// the driver has set.
v4l2_format V4l2Capture::request_format(const ChosenMode& mode, uint32_t field) {
  v4l2_format format = {};
  format.type = type_;
  if (!device_.query(VIDIOC_G_FMT, format)) fail(camera_error(device_.error(), path_));
  const auto width = static_cast<uint32_t>(mode.size.width), height = static_cast<uint32_t>(mode.size.height);
  if (multi_planar_) {
    if (width) format.fmt.pix_mp.width = width, format.fmt.pix_mp.height = height;
    format.fmt.pix_mp.pixelformat = mode.code;
    format.fmt.pix_mp.field = field;
    for (v4l2_plane_pix_format& plane : format.fmt.pix_mp.plane_fmt) plane = {};
  } else {
    if (width) format.fmt.pix.width = width, format.fmt.pix.height = height;
    format.fmt.pix.pixelformat = mode.code;
    format.fmt.pix.field = field;
    format.fmt.pix.bytesperline = format.fmt.pix.sizeimage = 0;
  }
  if (!device_.query(VIDIOC_S_FMT, format)) fail(camera_error(device_.error(), path_));
  field_ = multi_planar_ ? format.fmt.pix_mp.field : format.fmt.pix.field;
  return format;
}

/// Sets the mode. If the driver would deliver the fields of a picture separately, requests interlaced and
/// then progressive pictures. Throws Error if the driver supports neither.
void V4l2Capture::set_format(const ChosenMode& mode) {
  v4l2_format format = request_format(mode, V4L2_FIELD_ANY);
  for (const uint32_t field : {V4L2_FIELD_INTERLACED, V4L2_FIELD_NONE})
    if (separate_fields(field_)) format = request_format(mode, field);
  if (const char* fields = separate_fields(field_))
    fail(fmt::format("the camera delivers the fields of a picture separately ({}), which lensd does not read",
                     fields));
  read_layout(format);
}

/// Reports if the driver has set another size than the chosen one. The user gets a notice if the size was
/// requested.
void V4l2Capture::report_size(Extent requested, Extent chosen) const {
  if (chosen.width <= 0 || size_ == chosen) return;
  const std::string text = fmt::format("the camera delivers {}×{} instead of {}×{}", size_.width,
                                       size_.height, chosen.width, chosen.height);
  if (shared_ && requested.width > 0)
    shared_->warn_once(text);
  else
    log::info("{}: {}", where_, text);
}

/// Stores the format that the driver has set, which may differ from the request.
void V4l2Capture::read_layout(const v4l2_format& format) {
  const V4l2SetFormat set = read_format(format);
  format_ = find_camera_format(set.fourcc);
  if (!format_) fail(fmt::format("lensd does not read the camera's format {}", fourcc_text(set.fourcc)));
  if (set.width == 0 || set.height == 0 || set.width > kMaxSide || set.height > kMaxSide)
    fail(fmt::format("a picture of {}×{} cannot be read, the limit is {}×{}", set.width, set.height, kMaxSide,
                     kMaxSide));
  size_ = {static_cast<int>(set.width), static_cast<int>(set.height)};
  memory_planes_ = set.memory_planes;
  if (format_->raw()) layout_ = v4l2_layout(format_->pixels, size_, memory_planes_, set.pitch_bytes);
  if (multi_planar_) {
    const v4l2_pix_format_mplane& multi = format.fmt.pix_mp;
    colour_.colorspace = multi.colorspace;
    colour_.ycbcr_enc = multi.ycbcr_enc;
    colour_.quantization = multi.quantization;
    colour_.xfer_func = multi.xfer_func;
  } else {
    colour_ = format.fmt.pix;
  }
}

void V4l2Capture::set_rate(double rate) {
  v4l2_streamparm parameters = {};
  parameters.type = type_;
  if (!device_.query(VIDIOC_G_PARM, parameters)) return;
  v4l2_fract& interval = parameters.parm.capture.timeperframe;
  if (rate > 0 && (parameters.parm.capture.capability & V4L2_CAP_TIMEPERFRAME)) {
    const AVRational wanted = av_d2q(1 / rate, 1'000'000);
    interval = {static_cast<uint32_t>(wanted.num), static_cast<uint32_t>(wanted.den)};
    if (!device_.query(VIDIOC_S_PARM, parameters)) fail(camera_error(device_.error(), path_));
  }
  rate_ = interval.numerator ? static_cast<double>(interval.denominator) / interval.numerator : 0;
}

}  // namespace lensd
