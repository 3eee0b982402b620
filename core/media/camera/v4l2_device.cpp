#include "core/media/camera/v4l2_device.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/media/camera/camera_user.hpp"
#include "core/media/cameras.hpp"

namespace lensd {
namespace {

/// Capabilities of a node that programs send pictures to. v4l2loopback with exclusive_caps=1 reports only
/// these until a program sends pictures, and then only capabilities of a camera.
constexpr uint32_t kOutputs = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_VIDEO_OUTPUT_MPLANE;

}  // namespace

V4l2Device::V4l2Device(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
  error_ = fd_ < 0 ? errno : 0;
}

V4l2Device::~V4l2Device() {
  if (fd_ >= 0) close(fd_);
}

bool V4l2Device::call(unsigned long request, void* data) noexcept {
  int result = -1;
  do result = ioctl(fd_, request, data);
  while (result < 0 && errno == EINTR);
  error_ = result < 0 ? errno : 0;
  return result >= 0;
}

uint8_t* V4l2Device::map(size_t bytes, int64_t offset, bool writable) noexcept {
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, bytes, access, MAP_SHARED, fd_, static_cast<off_t>(offset));
  error_ = data == MAP_FAILED ? errno : 0;
  return data == MAP_FAILED ? nullptr : static_cast<uint8_t*>(data);
}

void V4l2Device::unmap(uint8_t* data, size_t bytes) noexcept {
  munmap(data, bytes);
}

int V4l2Device::wait(int timeout_ms) noexcept {
  struct pollfd state = {fd_, POLLIN | POLLPRI, 0};
  return poll(&state, 1, timeout_ms) > 0 ? state.revents : 0;
}

int64_t V4l2Device::write(const uint8_t* data, size_t bytes) noexcept {
  ssize_t written = -1;
  do written = ::write(fd_, data, bytes);
  while (written < 0 && errno == EINTR);
  error_ = written < 0 ? errno : 0;
  return written;
}

bool not_offered(int error) noexcept {
  return error == EINVAL || error == ENOTTY || error == ENODATA;
}

bool is_gone(int error) noexcept {
  return error == ENODEV || error == ENXIO || error == ESHUTDOWN;
}

uint32_t node_capabilities(const v4l2_capability& capability) noexcept {
  return capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
}

bool captures_video(const v4l2_capability& capability) noexcept {
  const uint32_t node = node_capabilities(capability);
  return (node & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) && (node & V4L2_CAP_STREAMING);
}

std::string capture_obstacle(const v4l2_capability& capability) {
  if (captures_video(capability)) return {};
  const uint32_t node = node_capabilities(capability);
  if (node & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
    return "lensd does not read devices without streaming I/O";
  if (node & kOutputs) return "no program sends pictures to this loopback device yet";
  return "this device delivers no video (a camera often has a second node for metadata)";
}

std::string never_captures(const v4l2_capability& capability) {
  const uint32_t node = node_capabilities(capability);
  const bool captures = node & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE);
  return !captures && (node & kOutputs) ? "" : capture_obstacle(capability);
}

bool is_raw_node(const v4l2_capability& capability) noexcept {
  return (node_capabilities(capability) & V4L2_CAP_IO_MC) != 0;
}

std::string camera_error(int error, const std::string& path, bool raw) {
  if (raw && (error == ENOLINK || error == EPIPE))
    return fmt::format("the camera's media graph is not configured ({})", kRawNodeHint);
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return fmt::format("there is no camera at {} (plug it in; lensd doctor lists the cameras)", path);
    case EACCES:
    case EPERM:
      return "no permission to open the camera (add yourself to the group 'video')";
    case EBUSY:
      return fmt::format("the camera is in use by another program{}", camera_user(path));
    case ENOSPC:
      return "not enough USB bandwidth (choose format mjpeg, a smaller size, or another USB port)";
    case ENOMEM:
      return "the driver has no memory for its buffers (choose a smaller size)";
    default:
      return fmt::format("camera error: {}", std::strerror(error));
  }
}

}  // namespace lensd
