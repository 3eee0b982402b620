#include "core/media/camera/v4l2_capture.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/clock.hpp"
#include "core/media/camera/v4l2_modes.hpp"
#include "core/media/ffmpeg/picture_info.hpp"

namespace lensd {
namespace {

constexpr uint32_t kCameraBuffers = 6;
/// Timeout of poll(). An interruption takes up to this long while the camera delivers nothing.
constexpr int kPollMs = 50;
/// poll() returns at once for a device in an error state: sleep, so that the caller does not spin.
constexpr useconds_t kErrorSleepUs = 2000;

AVColorSpace matrix_of(const v4l2_pix_format& format) {
  uint32_t encoding = format.ycbcr_enc;
  if (encoding == V4L2_YCBCR_ENC_DEFAULT) encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(format.colorspace);
  switch (encoding) {
    case V4L2_YCBCR_ENC_709:
    case V4L2_YCBCR_ENC_XV709:
      return AVCOL_SPC_BT709;
    case V4L2_YCBCR_ENC_BT2020:
    case V4L2_YCBCR_ENC_BT2020_CONST_LUM:
      return AVCOL_SPC_BT2020_NCL;
    case V4L2_YCBCR_ENC_SMPTE240M:
      return AVCOL_SPC_SMPTE240M;
    default:
      return AVCOL_SPC_SMPTE170M;
  }
}

/// Returns the transfer function if it is PQ or linear, because lensd treats all other functions alike. V4L2
/// has no value for HLG.
AVColorTransferCharacteristic transfer_of(const v4l2_pix_format& format) {
  return format.xfer_func == V4L2_XFER_FUNC_SMPTE2084 ? AVCOL_TRC_SMPTE2084
         : format.xfer_func == V4L2_XFER_FUNC_NONE    ? AVCOL_TRC_LINEAR
                                                      : AVCOL_TRC_UNSPECIFIED;
}

AVColorPrimaries primaries_of(const v4l2_pix_format& format) {
  switch (format.colorspace) {
    case V4L2_COLORSPACE_REC709:
    case V4L2_COLORSPACE_SRGB:
    case V4L2_COLORSPACE_JPEG:
      return AVCOL_PRI_BT709;
    case V4L2_COLORSPACE_SMPTE170M:
      return AVCOL_PRI_SMPTE170M;
    case V4L2_COLORSPACE_SMPTE240M:
      return AVCOL_PRI_SMPTE240M;
    case V4L2_COLORSPACE_470_SYSTEM_BG:
      return AVCOL_PRI_BT470BG;
    case V4L2_COLORSPACE_BT2020:
      return AVCOL_PRI_BT2020;
    case V4L2_COLORSPACE_DCI_P3:
      return AVCOL_PRI_SMPTE431;
    default:
      return AVCOL_PRI_UNSPECIFIED;
  }
}

/// Returns true if the samples have full range. If the driver does not specify the range, V4L2 defines full
/// range for RGB and for V4L2_COLORSPACE_JPEG. lensd also assumes full range for grey then.
bool full_range(const v4l2_pix_format& format, bool chroma) {
  uint32_t range = format.quantization;
  if (range == V4L2_QUANTIZATION_DEFAULT)
    range = V4L2_MAP_QUANTIZATION_DEFAULT(!chroma, format.colorspace, format.ycbcr_enc);
  return range == V4L2_QUANTIZATION_FULL_RANGE;
}

/// Returns true if a JPEG has its end marker. Cameras may append padding. Coded samples cannot contain the
/// marker.
bool has_jpeg_end(const uint8_t* data, size_t bytes) {
  constexpr size_t kMaxPadding = 4096;
  for (size_t i = bytes; i >= 2 && bytes - i < kMaxPadding; --i)
    if (data[i - 2] == 0xFF && data[i - 1] == 0xD9) return true;
  return false;
}

/// Returns the picture's time on CLOCK_MONOTONIC, or the current time if the driver uses another clock.
int64_t time_of(const v4l2_buffer& buffer) {
  if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) != V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) return now_ns();
  return int64_t{buffer.timestamp.tv_sec} * 1'000'000'000 + int64_t{buffer.timestamp.tv_usec} * 1000;
}

}  // namespace

V4l2Capture::V4l2Capture(std::unique_ptr<V4l2Device> device, const std::string& path,
                         const std::string& where, const RequestedMode& request, const Options& options,
                         std::shared_ptr<SharedControls> controls, std::shared_ptr<CameraMonitor> monitor)
    : path_(path),
      where_(where),
      opened_(std::move(device)),
      shared_(std::move(controls)),
      monitor_(monitor ? std::move(monitor) : std::make_shared<CameraMonitor>()) {
  suspect_mode(false);
  if (!device_.is_open() || !device_.query(VIDIOC_QUERYCAP, capability_))
    fail(camera_error(device_.error(), path_));
  if (const std::string obstacle = capture_obstacle(capability_); !obstacle.empty()) fail(obstacle);
  multi_planar_ = !(node_capabilities(capability_) & V4L2_CAP_VIDEO_CAPTURE);
  if (multi_planar_) type_ = V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  bool any_standard = true;
  for (const auto& [name, value] : options) {
    const bool input = name == kCameraOptions[0];
    input ? select_input(value) : select_standard(value);
    any_standard = any_standard && input;
  }
  adopt_signal(any_standard);

  const std::vector<CameraFormat> formats = camera_formats(device_, capability_);
  if (device_.error() && !not_offered(device_.error())) fail(camera_error(device_.error(), path_));
  const CameraIdentity identity = camera_identity(path_, capability_);
  ModeControls mode_controls(formats, request);
  if (shared_) mode_controls.adopt(shared_->wanted(identity));
  const RequestedMode wanted = mode_controls.request();
  const auto mode = choose_mode(formats, wanted);
  if (!mode) refuse_format(formats, wanted.format);
  try {
    set_format(*mode);
    report_size(wanted.size, mode->size);
    set_rate(mode->rate);
    if (shared_) controls_.emplace(device_, shared_, identity, std::move(mode_controls));
    map_buffers();
    start();
  } catch (...) {
    if (shared_) shared_->mode_failed(device_.error());
    buffers_.unmap();
    throw;
  }
  suspect_mode(true);
}

V4l2Capture::~V4l2Capture() {
  int type = static_cast<int>(type_);
  if (streaming_) device_.query(VIDIOC_STREAMOFF, type);
  buffers_.unmap();
}

void V4l2Capture::suspect_mode(bool suspected) noexcept {
  if (shared_) shared_->suspect_mode(suspected);
}

void V4l2Capture::fail(const std::string& what) const {
  throw Error(ExitCode::bad_source, where_, what);
}

void V4l2Capture::refuse(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::invalid_config, where_, what, hint);
}

void V4l2Capture::map_buffers() {
  if (const int error = buffers_.allocate(type_, memory_planes_, kCameraBuffers))
    fail(camera_error(error, path_));
}

void V4l2Capture::start() {
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    v4l2_buffer buffer = buffers_.request(i);
    if (!device_.query(VIDIOC_QBUF, buffer)) fail(camera_error(device_.error(), path_));
  }
  int type = static_cast<int>(type_);
  if (!device_.query(VIDIOC_STREAMON, type))
    fail(camera_error(device_.error(), path_, is_raw_node(capability_)));
  streaming_ = true;
}

int V4l2Capture::read(AVPacket& packet) noexcept {
  Filled filled;
  if (const int error = next_picture(filled); error < 0) return error;
  const int error = av_new_packet(&packet, static_cast<int>(filled.bytes[0]));
  if (error >= 0) {
    std::memcpy(packet.data, buffers_[filled.index][0].data + filled.offset[0], filled.bytes[0]);
    packet.pts = packet.dts = filled.time_ns;
    packet.flags |= AV_PKT_FLAG_KEY;
  }
  queue(filled.index);
  return std::min(error, 0);
}

int V4l2Capture::read(AVFrame& frame, PictureAllocator& allocator) noexcept {
  Filled filled;
  if (const int error = next_picture(filled); error < 0) return error;
  frame.format = format_->pixels;
  frame.width = size_.width, frame.height = size_.height;
  const int error = allocator.fill(frame, size_.width, size_.height);
  if (error >= 0) {
    copy_picture(filled, frame);
    set_colour(frame);
    set_fields(frame, filled.field);
    frame.pts = frame.best_effort_timestamp = filled.time_ns;
  }
  queue(filled.index);
  return std::min(error, 0);
}

void V4l2Capture::copy_picture(const Filled& filled, AVFrame& frame) const noexcept {
  const V4l2Buffers::Buffer& buffer = buffers_[filled.index];
  const uint8_t* source[4] = {};
  int pitch_bytes[4] = {};
  for (size_t p = 0; p < static_cast<size_t>(av_pix_fmt_count_planes(format_->pixels)); ++p) {
    const V4l2Layout::Plane& plane = layout_.planes[p];
    source[p] = buffer[plane.memory_plane].data + filled.offset[plane.memory_plane] + plane.offset;
    pitch_bytes[p] = plane.pitch_bytes;
  }
  if (format_->v_first) std::swap(source[1], source[2]);
  av_image_copy(frame.data, frame.linesize, source, pitch_bytes, format_->pixels, size_.width, size_.height);
}

void V4l2Capture::set_colour(AVFrame& frame) const noexcept {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format_->pixels);
  const bool rgb = (descriptor.flags & AV_PIX_FMT_FLAG_RGB) != 0;
  frame.colorspace = rgb ? AVCOL_SPC_RGB : matrix_of(colour_);
  frame.color_trc = transfer_of(colour_), frame.color_primaries = primaries_of(colour_);
  frame.color_range =
      full_range(colour_, !rgb && descriptor.nb_components >= 3) ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

/// Marks an interlaced picture. `field`: the buffer's v4l2_field. For V4L2_FIELD_INTERLACED, the TV standard
/// defines the order: the bottom field is first with 525 lines.
void V4l2Capture::set_fields(AVFrame& frame, uint32_t field) const noexcept {
  if (field == V4L2_FIELD_ANY) field = field_;
  const bool interlaced = field == V4L2_FIELD_INTERLACED || field == V4L2_FIELD_INTERLACED_TB ||
                          field == V4L2_FIELD_INTERLACED_BT;
  const bool top_first =
      field == V4L2_FIELD_INTERLACED ? (standard_ & V4L2_STD_525_60) == 0 : field == V4L2_FIELD_INTERLACED_TB;
  mark_fields(frame, !interlaced ? FieldOrder::progressive
                     : top_first ? FieldOrder::top_first
                                 : FieldOrder::bottom_first);
}

/// Calls dequeue(). If the camera was unplugged or its signal has changed, does not suspect the mode.
int V4l2Capture::next_picture(Filled& filled) noexcept {
  const int error = dequeue(filled);
  if (error == AVERROR(EIO) || is_gone(AVUNERROR(error))) suspect_mode(false);
  return error;
}

/// Takes the next complete picture from the driver. Returns 0 or an AVERROR: EAGAIN if none came within
/// kPollMs or if the picture is damaged. Counts a damaged picture and returns its buffer to the driver.
int V4l2Capture::dequeue(Filled& filled) noexcept {
  for (;;) {
    // Take events before every picture, because wait(), which polls for them, is not called while pictures
    // are ready.
    if (take_events()) return AVERROR(EIO);
    const int64_t now = now_ns();
    check_signal(now);
    if (controls_) {
      controls_->service(now);
      if (controls_->mode_changed()) return AVERROR(EIO);
    }
    v4l2_buffer buffer = buffers_.request(0);
    if (!device_.query(VIDIOC_DQBUF, buffer)) {
      // EIO: the driver lost this picture, but not the connection.
      const bool lost = device_.error() == EIO;
      if (!lost && device_.error() != EAGAIN) return AVERROR(device_.error());
      if (const int error = wait(); error < 0) return error;
      if (!lost) continue;
      ++monitor_->broken;
      usleep(kErrorSleepUs);
      return AVERROR(EAGAIN);
    }
    if (buffer.index >= buffers_.size()) return AVERROR(ENODEV);
    filled = {buffer.index, buffer.field, time_of(buffer), {}, {buffer.bytesused}};
    for (size_t p = 0; multi_planar_ && p < memory_planes_; ++p) {
      const v4l2_plane& plane = buffers_.planes()[p];
      filled.offset[p] = std::min(plane.data_offset, plane.bytesused);
      filled.bytes[p] = plane.bytesused - filled.offset[p];
    }
    count_missed(buffer.sequence);
    if (!(buffer.flags & V4L2_BUF_FLAG_ERROR) && complete(filled)) return 0;
    ++monitor_->broken;
    queue(buffer.index);
    return AVERROR(EAGAIN);
  }
}

/// Waits up to kPollMs for a picture or an event. Returns 0 if there may be one, otherwise an AVERROR.
int V4l2Capture::wait() noexcept {
  const int ready = device_.wait(kPollMs);
  if (ready == 0) return AVERROR(EAGAIN);
  if (ready & (POLLIN | POLLPRI)) return 0;
  v4l2_capability capability = {};
  if (!device_.query(VIDIOC_QUERYCAP, capability)) return AVERROR(ENODEV);
  usleep(kErrorSleepUs);
  return AVERROR(EAGAIN);
}

/// Takes all events from the driver. Returns true if the signal's format has changed.
bool V4l2Capture::take_events() noexcept {
  v4l2_event event = {};
  bool changed = false;
  while (device_.query(VIDIOC_DQEVENT, event)) {
    changed = changed || (event.type == V4L2_EVENT_SOURCE_CHANGE &&
                          (event.u.src_change.changes & V4L2_EVENT_SRC_CH_RESOLUTION));
    if (controls_) controls_->take_event(event);
  }
  return changed;
}

bool V4l2Capture::complete(const Filled& filled) noexcept {
  const V4l2Buffers::Buffer& buffer = buffers_[filled.index];
  for (size_t p = 0; p < memory_planes_; ++p)
    if (filled.bytes[p] < layout_.bytes[p] || filled.offset[p] + filled.bytes[p] > buffer[p].bytes)
      return false;
  if (format_->codec != AV_CODEC_ID_MJPEG) return true;
  const bool ends = has_jpeg_end(buffer[0].data + filled.offset[0], filled.bytes[0]);
  jpegs_end_ = jpegs_end_ || ends;
  return ends || !jpegs_end_;
}

void V4l2Capture::count_missed(uint32_t sequence) noexcept {
  if (numbered_ && sequence > sequence_ + 1) monitor_->missed += sequence - sequence_ - 1;
  numbered_ = true, sequence_ = sequence;
}

/// Returns a buffer to the driver. Ignores errors: dequeue() reports a failed device.
void V4l2Capture::queue(uint32_t index) noexcept {
  v4l2_buffer buffer = buffers_.request(index);
  device_.query(VIDIOC_QBUF, buffer);
}

}  // namespace lensd
