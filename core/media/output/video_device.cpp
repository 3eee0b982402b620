#include "core/media/output/video_device.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/camera/camera_user.hpp"
#include "core/media/camera/v4l2_formats.hpp"
#include "core/media/cameras.hpp"

namespace lensd {
namespace {

/// Drivers keep the buffer with the picture that they show. The other buffers absorb differences in timing.
constexpr uint32_t kOutputBuffers = 4;
/// A device that takes no picture for this time is opened again.
constexpr int64_t kStuckNs = 3'000'000'000;

std::string device_error(int error, const std::string& path) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ESHUTDOWN:
      return "there is no such device (load its driver, for example: modprobe v4l2loopback)";
    case EACCES:
    case EPERM:
      return "no permission to open the device (add yourself to the group 'video')";
    case EBUSY:
      return fmt::format("the device is in use by another program{}", camera_user(path));
    case ENOMEM:
      return "the driver has no memory for its buffers (choose a smaller size)";
    case ENOTTY:
      return "this is not a video device";
    case ETIMEDOUT:
      return fmt::format("the device has taken no picture for {} s", kStuckNs / 1'000'000'000);
    default:
      return fmt::format("device error: {}", std::strerror(error));
  }
}

/// Sets colour fields for the pictures that stream_encoder() selects: BT.709 primaries, BT.601 matrix.
template <class Format>
void set_colour(Format& format, AVColorRange range) {
  format.colorspace = V4L2_COLORSPACE_SRGB;
  format.xfer_func = V4L2_XFER_FUNC_DEFAULT;
  format.ycbcr_enc = V4L2_YCBCR_ENC_601;
  format.quantization = range == AVCOL_RANGE_JPEG   ? V4L2_QUANTIZATION_FULL_RANGE
                        : range == AVCOL_RANGE_MPEG ? V4L2_QUANTIZATION_LIM_RANGE
                                                    : V4L2_QUANTIZATION_DEFAULT;
}

}  // namespace

VideoDevice::VideoDevice(std::unique_ptr<V4l2Device> device, const std::string& path,
                         const AVCodecParameters& video, AVRational rate)
    : path_(path), opened_(std::move(device)) {
  if (!device_.is_open()) fail_device();
  type_ = find_type();
  set_format(video);
  set_rate(rate);
  prepare_buffers();
}

VideoDevice::~VideoDevice() {
  int type = static_cast<int>(type_);
  if (streaming_) device_.query(VIDIOC_STREAMOFF, type);
}

void VideoDevice::fail(const std::string& what) const {
  throw Error(ExitCode::bad_source, path_, what);
}

void VideoDevice::fail_device() const {
  fail(device_error(device_.error(), path_));
}

std::string VideoDevice::reason(int error) const {
  return device_error(AVUNERROR(error), path_);
}

/// Returns the type of the device's buffers.
uint32_t VideoDevice::find_type() {
  v4l2_capability capability = {};
  if (!device_.query(VIDIOC_QUERYCAP, capability)) fail_device();
  node_ = node_capabilities(capability);
  if (node_ & V4L2_CAP_VIDEO_OUTPUT) return V4L2_BUF_TYPE_VIDEO_OUTPUT;
  if (node_ & V4L2_CAP_VIDEO_OUTPUT_MPLANE) return V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
  fail("the device takes no pictures: it is a camera, or another program sends to it");
}

v4l2_format VideoDevice::request_format(uint32_t fourcc, const AVCodecParameters& video) {
  v4l2_format format = {};
  format.type = type_;
  const auto width = static_cast<uint32_t>(video.width), height = static_cast<uint32_t>(video.height);
  if (is_multi_planar(type_)) {
    v4l2_pix_format_mplane& multi = format.fmt.pix_mp;
    multi.width = width, multi.height = height, multi.pixelformat = fourcc, multi.field = V4L2_FIELD_NONE;
    multi.num_planes = 1;
    set_colour(multi, video.color_range);
  } else {
    v4l2_pix_format& single = format.fmt.pix;
    single.width = width, single.height = height, single.pixelformat = fourcc, single.field = V4L2_FIELD_NONE;
    single.priv = V4L2_PIX_FMT_PRIV_MAGIC;  // the colour fields are valid
    set_colour(single, video.color_range);
  }
  if (!device_.query(VIDIOC_S_FMT, format)) {
    if (!not_offered(device_.error())) fail_device();
    fail(fmt::format("the device does not take pictures of {}×{} in the format {}", width, height,
                     fourcc_text(fourcc)));
  }
  return format;
}

/// Throws Error if the driver takes pictures of another format or size only.
void VideoDevice::set_format(const AVCodecParameters& video) {
  pixels_ = static_cast<AVPixelFormat>(video.format);
  size_ = {video.width, video.height};
  const CameraFormatEntry* entry = find_camera_format(pixels_);
  if (!entry) fail(fmt::format("V4L2 has no format for the pixels {}", av_get_pix_fmt_name(pixels_)));
  const V4l2SetFormat set = read_format(request_format(entry->fourcc, video));
  if (set.fourcc != entry->fourcc)
    fail(fmt::format("the device takes pictures in the format {}, not {}", fourcc_text(set.fourcc),
                     fourcc_text(entry->fourcc)));
  const Extent taken = {static_cast<int>(set.width), static_cast<int>(set.height)};
  if (!(taken == size_))
    fail(fmt::format("the device takes pictures of {}×{}, not {}×{} (add a resize node)", taken.width,
                     taken.height, size_.width, size_.height));
  memory_planes_ = set.memory_planes;
  layout_ = v4l2_layout(pixels_, size_, memory_planes_, set.pitch_bytes);
  packet_bytes_ =
      static_cast<size_t>(std::max(0, av_image_get_buffer_size(pixels_, size_.width, size_.height, 1)));
}

/// Announces the rate to the device's readers. Ignores errors, because pictures are written when they are
/// due.
void VideoDevice::set_rate(AVRational rate) {
  v4l2_streamparm parameters = {};
  parameters.type = type_;
  if (rate.num <= 0 || rate.den <= 0 || !device_.query(VIDIOC_G_PARM, parameters)) return;
  if (!(parameters.parm.output.capability & V4L2_CAP_TIMEPERFRAME)) return;
  parameters.parm.output.timeperframe = {static_cast<uint32_t>(rate.den), static_cast<uint32_t>(rate.num)};
  device_.query(VIDIOC_S_PARM, parameters);
}

/// Allocates the driver's buffers. If it has none, write() is used.
void VideoDevice::prepare_buffers() {
  const bool writes = (node_ & V4L2_CAP_READWRITE) && !is_multi_planar(type_);
  int error = EINVAL;
  if (node_ & V4L2_CAP_STREAMING) error = buffers_.allocate(type_, memory_planes_, kOutputBuffers);
  if (!error) {
    for (size_t p = 0; p < memory_planes_; ++p)
      if (buffers_[0][p].bytes < layout_.bytes[p]) fail("the driver's buffers are too small for the picture");
    return;
  }
  buffers_.free();
  const bool no_memory = error == ENOMEM;
  if (!not_offered(error) && !(no_memory && writes)) fail(device_error(error, path_));
  if (!writes) fail("the device supports neither streaming I/O nor write()");
  if (layout_.bytes[0] != packet_bytes_) whole_.resize(layout_.bytes[0]);
}

int VideoDevice::write(const AVPacket& packet) {
  if (packet.size < 0 || static_cast<size_t>(packet.size) < packet_bytes_) return AVERROR(EINVAL);
  return uses_buffers() ? fill_and_queue(packet) : write_whole(packet);
}

int VideoDevice::write_whole(const AVPacket& packet) {
  const uint8_t* data = packet.data;
  if (!whole_.empty()) {
    copy_picture(packet, {V4l2Buffers::Region{whole_.data(), whole_.size()}});
    data = whole_.data();
  }
  const size_t bytes = whole_.empty() ? packet_bytes_ : whole_.size();
  const int64_t written = device_.write(data, bytes);
  if (written < 0 && device_.error() == EAGAIN) return count_wait();
  if (written < 0) return AVERROR(device_.error());
  waiting_since_ns_ = 0;
  return static_cast<size_t>(written) < bytes ? AVERROR(EIO) : 0;
}

int VideoDevice::fill_and_queue(const AVPacket& packet) {
  uint32_t index = 0;
  if (const int result = take_buffer(index); result != 0) return result;
  copy_picture(packet, buffers_[index]);
  v4l2_buffer buffer = buffers_.request(index);
  buffer.field = V4L2_FIELD_NONE;
  buffer.bytesused = static_cast<uint32_t>(layout_.bytes[0]);
  for (size_t p = 0; is_multi_planar(type_) && p < memory_planes_; ++p)
    buffers_.planes()[p].bytesused = static_cast<uint32_t>(layout_.bytes[p]);
  if (!device_.query(VIDIOC_QBUF, buffer)) return AVERROR(device_.error());
  if (streaming_) return 0;
  int type = static_cast<int>(type_);
  streaming_ = device_.query(VIDIOC_STREAMON, type);
  return streaming_ ? 0 : AVERROR(device_.error());
}

/// Finds a buffer that the driver does not use. Returns 0, kNotSent if there is none, or an AVERROR.
int VideoDevice::take_buffer(uint32_t& index) {
  if (unused_ < buffers_.size()) {
    index = unused_++;
    return 0;
  }
  v4l2_buffer buffer = buffers_.request(0);
  if (!device_.query(VIDIOC_DQBUF, buffer))
    return device_.error() == EAGAIN ? count_wait() : AVERROR(device_.error());
  waiting_since_ns_ = 0;
  index = buffer.index;
  return index < buffers_.size() ? 0 : AVERROR(EIO);
}

/// Returns kNotSent, or AVERROR(ETIMEDOUT) if the driver has not been ready for kStuckNs.
int VideoDevice::count_wait() {
  const int64_t now = now_ns();
  if (waiting_since_ns_ == 0) waiting_since_ns_ = now;
  return now - waiting_since_ns_ < kStuckNs ? kNotSent : AVERROR(ETIMEDOUT);
}

void VideoDevice::copy_picture(const AVPacket& packet, const V4l2Buffers::Buffer& buffer) const {
  uint8_t* source[4] = {};
  uint8_t* target[4] = {};
  int source_pitch[4] = {}, target_pitch[4] = {};
  av_image_fill_arrays(source, source_pitch, packet.data, pixels_, size_.width, size_.height, 1);
  for (size_t p = 0; p < static_cast<size_t>(av_pix_fmt_count_planes(pixels_)); ++p) {
    const V4l2Layout::Plane& plane = layout_.planes[p];
    target[p] = buffer[plane.memory_plane].data + plane.offset;
    target_pitch[p] = plane.pitch_bytes;
  }
  const uint8_t* from[4] = {source[0], source[1], source[2], source[3]};
  av_image_copy(target, target_pitch, from, source_pitch, pixels_, size_.width, size_.height);
}

}  // namespace lensd
