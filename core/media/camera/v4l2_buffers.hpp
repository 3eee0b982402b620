// Maps the kernel's buffers of a Video4Linux device into memory, and computes where a picture's planes are in
// them. For capture and output devices. Use an object on the thread of its device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image/view.hpp"
#include "core/media/camera/v4l2_device.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Maximum number of planes of a picture, and of memory planes of a buffer.
inline constexpr size_t kMaxV4l2Planes = 4;

class V4l2Buffers {
 public:
  struct Region {
    uint8_t* data = nullptr;
    size_t bytes = 0;
  };
  /// A buffer's memory planes; one if the device is not multi-planar.
  using Buffer = std::array<Region, kMaxV4l2Planes>;

  /// `device` must outlive this object.
  explicit V4l2Buffers(V4l2Device& device) : device_(device) {}
  ~V4l2Buffers() { unmap(); }
  V4l2Buffers(const V4l2Buffers&) = delete;
  V4l2Buffers& operator=(const V4l2Buffers&) = delete;

  /// Requests about `count` buffers from the driver and maps them. `type`: V4L2_BUF_TYPE_… Returns 0 or an
  /// errno: ENOMEM if the driver allocates fewer than 2. After a failure, the driver may still have buffers.
  int allocate(uint32_t type, size_t memory_planes, uint32_t count);
  void unmap() noexcept;
  /// Unmaps the buffers and lets the driver free them. While it has some, it refuses write() with EBUSY.
  void free() noexcept;

  size_t size() const noexcept { return buffers_.size(); }
  const Buffer& operator[](size_t index) const noexcept { return buffers_[index]; }

  /// Returns the argument of VIDIOC_QBUF and VIDIOC_DQBUF. For a multi-planar device it points to planes(),
  /// which the next call overwrites.
  v4l2_buffer request(uint32_t index) noexcept;
  /// The memory planes of the last request(); only of a multi-planar device.
  std::array<v4l2_plane, VIDEO_MAX_PLANES>& planes() noexcept { return planes_; }

 private:
  V4l2Device& device_;
  uint32_t type_ = 0;
  size_t memory_planes_ = 1;
  std::vector<Buffer> buffers_;
  std::array<v4l2_plane, VIDEO_MAX_PLANES> planes_ = {};
};

/// Returns true if buffers of this type have memory planes.
bool is_multi_planar(uint32_t type) noexcept;

/// The format of pictures that a driver has set, for single- and multi-planar devices.
struct V4l2SetFormat {
  uint32_t fourcc = 0, width = 0, height = 0;
  size_t memory_planes = 1;
  std::array<int, kMaxV4l2Planes> pitch_bytes = {};  ///< by memory plane
};
/// Reads the members of `format` that belong to its type.
V4l2SetFormat read_format(const v4l2_format& format) noexcept;

/// The places of an uncompressed picture's planes in a buffer.
struct V4l2Layout {
  struct Plane {
    size_t memory_plane = 0, offset = 0;
    int pitch_bytes = 0;
  };
  std::array<Plane, kMaxV4l2Planes> planes = {};
  std::array<size_t, kMaxV4l2Planes> bytes = {};  ///< size of the whole picture by memory plane
};
/// `pitch_bytes`: the driver's pitch in each memory plane.
V4l2Layout v4l2_layout(AVPixelFormat pixels, Extent size, size_t memory_planes,
                       const std::array<int, kMaxV4l2Planes>& pitch_bytes);

}  // namespace lensd
