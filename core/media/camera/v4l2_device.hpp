// An open Video4Linux device node. Use an object on one thread, because error() belongs to its last call.
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
  virtual ~V4l2Device();
  V4l2Device(const V4l2Device&) = delete;
  V4l2Device& operator=(const V4l2Device&) = delete;

  virtual bool is_open() const noexcept { return fd_ >= 0; }

  /// Calls ioctl(). Returns false and sets error() if it fails.
  template <class T>
  bool query(unsigned long request, T& data) noexcept {
    return call(request, &data);
  }
  /// Returns the errno of opening or of the last query(), map() or write(), or 0 if it succeeded.
  int error() const noexcept { return error_; }

  /// Maps a buffer of the driver for reading, or for writing too. Returns null and sets error() if it fails.
  virtual uint8_t* map(size_t bytes, int64_t offset, bool writable) noexcept;
  virtual void unmap(uint8_t* data, size_t bytes) noexcept;
  /// Waits for a picture or an event. Returns the flags of poll(); 0 after `timeout_ms` or if poll() fails.
  virtual int wait(int timeout_ms) noexcept;
  /// Calls write(), which does not block. Returns the number of bytes written, or -1 and sets error().
  virtual int64_t write(const uint8_t* data, size_t bytes) noexcept;

 protected:
  /// Calls ioctl() and sets error_. Tests override it, and the other virtual functions, to simulate a device.
  virtual bool call(unsigned long request, void* data) noexcept;
  int error_ = 0;

 private:
  int fd_ = -1;
};

/// Returns true if a request failed because the device has no such value or does not support the request, and
/// not because it is busy or was unplugged.
bool not_offered(int error) noexcept;

/// Returns true if a request failed because the device was unplugged.
bool is_gone(int error) noexcept;

/// Returns the capabilities of this device node. A camera often has a second node for metadata.
uint32_t node_capabilities(const v4l2_capability& capability) noexcept;
/// Returns true if the node captures and streams video, with one or several planes per buffer.
bool captures_video(const v4l2_capability& capability) noexcept;

/// Returns why the node captures no video now, or an empty string if it does.
std::string capture_obstacle(const v4l2_capability& capability);
/// Like capture_obstacle(), but returns an empty string for a node that may capture video later: a loopback
/// device to which no program sends pictures now.
std::string never_captures(const v4l2_capability& capability);

/// Returns true for a node of an image processor that streams only after its media graph was configured.
bool is_raw_node(const v4l2_capability& capability) noexcept;

/// Returns the text in a field of a kernel structure. The terminating zero may be missing.
template <size_t N>
std::string v4l2_text(const unsigned char (&bytes)[N]) {
  size_t length = 0;
  while (length < N && bytes[length]) ++length;
  return std::string(bytes, bytes + length);
}

/// Returns a message for an errno of the camera at `path`, with a remedy if there is a known one. `raw`: the
/// result of is_raw_node().
std::string camera_error(int error, const std::string& path, bool raw = false);

}  // namespace lensd
