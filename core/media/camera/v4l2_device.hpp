// An open Video4Linux device node.
//
// The kernel serialises ioctls of one descriptor, so that settings may be changed on one thread while another
// waits for pictures.
#pragma once

#include <linux/videodev2.h>

#include <cstdint>
#include <string>

namespace lensd {

class V4l2Device {
 public:
  V4l2Device() = default;
  /// Opens without blocking. Check is_open().
  explicit V4l2Device(const std::string& path);
  ~V4l2Device();
  V4l2Device(const V4l2Device&) = delete;
  V4l2Device& operator=(const V4l2Device&) = delete;

  bool is_open() const noexcept { return fd_ >= 0; }
  int descriptor() const noexcept { return fd_; }

  /// ioctl(). Returns false with error() set if it fails.
  template <class T>
  bool query(unsigned long request, T& data) noexcept {
    return call(request, &data);
  }
  /// errno of the last call; 0 if it succeeded.
  int error() const noexcept { return error_; }

 private:
  bool call(unsigned long request, void* data) noexcept;
  int fd_ = -1, error_ = 0;
};

/// Capabilities of this node. A camera often has a second node for metadata.
uint32_t node_capabilities(const v4l2_capability& capability) noexcept;
/// The node streams video, with one or several planes per buffer.
bool captures_video(const v4l2_capability& capability) noexcept;

/// Text of a field of the kernel's structures, which may lack the final zero.
template <size_t N>
std::string v4l2_text(const unsigned char (&bytes)[N]) {
  size_t length = 0;
  while (length < N && bytes[length]) ++length;
  return std::string(bytes, bytes + length);
}

/// What an errno of a camera means, with the remedy.
std::string camera_error(int error, const std::string& path);

}  // namespace lensd
