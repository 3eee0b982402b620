#include "core/media/camera/v4l2_buffers.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cerrno>

namespace lensd {

bool is_multi_planar(uint32_t type) noexcept {
  return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
}

int V4l2Buffers::allocate(uint32_t type, size_t memory_planes, uint32_t count) {
  type_ = type, memory_planes_ = memory_planes;
  v4l2_requestbuffers request_buffers = {};
  request_buffers.type = type, request_buffers.memory = V4L2_MEMORY_MMAP, request_buffers.count = count;
  if (!device_.query(VIDIOC_REQBUFS, request_buffers)) return device_.error();
  if (request_buffers.count < 2) return ENOMEM;
  const bool written = V4L2_TYPE_IS_OUTPUT(type);
  for (uint32_t i = 0; i < request_buffers.count; ++i) {
    v4l2_buffer buffer = request(i);
    if (!device_.query(VIDIOC_QUERYBUF, buffer)) return device_.error();
    buffers_.emplace_back();
    for (size_t p = 0; p < memory_planes_; ++p) {
      const bool multi = is_multi_planar(type_);
      const size_t bytes = multi ? planes_[p].length : buffer.length;
      uint8_t* data = device_.map(bytes, multi ? planes_[p].m.mem_offset : buffer.m.offset, written);
      if (!data) return device_.error();
      buffers_.back()[p] = {data, bytes};
    }
  }
  return 0;
}

void V4l2Buffers::unmap() noexcept {
  for (const Buffer& buffer : buffers_)
    for (const Region& plane : buffer)
      if (plane.data) device_.unmap(plane.data, plane.bytes);
  buffers_.clear();
}

void V4l2Buffers::free() noexcept {
  unmap();
  v4l2_requestbuffers none = {};
  none.type = type_, none.memory = V4L2_MEMORY_MMAP;
  device_.query(VIDIOC_REQBUFS, none);
}

v4l2_buffer V4l2Buffers::request(uint32_t index) noexcept {
  v4l2_buffer buffer = {};
  buffer.type = type_, buffer.memory = V4L2_MEMORY_MMAP, buffer.index = index;
  if (is_multi_planar(type_)) {
    planes_ = {};
    buffer.m.planes = planes_.data();
    buffer.length = static_cast<uint32_t>(memory_planes_);
  }
  return buffer;
}

V4l2SetFormat read_format(const v4l2_format& format) noexcept {
  if (!is_multi_planar(format.type)) {
    const v4l2_pix_format& single = format.fmt.pix;
    return {single.pixelformat, single.width, single.height, 1, {static_cast<int>(single.bytesperline)}};
  }
  const v4l2_pix_format_mplane& multi = format.fmt.pix_mp;
  V4l2SetFormat set{.fourcc = multi.pixelformat, .width = multi.width, .height = multi.height};
  set.memory_planes = std::clamp<size_t>(multi.num_planes, 1, kMaxV4l2Planes);
  for (size_t p = 0; p < set.memory_planes; ++p)
    set.pitch_bytes[p] = static_cast<int>(multi.plane_fmt[p].bytesperline);
  return set;
}

/// Planes in the same memory plane are contiguous, and their pitches have the ratio of their row sizes.
V4l2Layout v4l2_layout(AVPixelFormat pixels, Extent size, size_t memory_planes,
                       const std::array<int, kMaxV4l2Planes>& pitch_bytes) {
  V4l2Layout layout;
  int tight[4] = {};
  av_image_fill_linesizes(tight, pixels, size.width);
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(pixels);
  for (size_t p = 0; p < static_cast<size_t>(av_pix_fmt_count_planes(pixels)); ++p) {
    V4l2Layout::Plane& plane = layout.planes[p];
    plane.memory_plane = std::min(p, memory_planes - 1);
    plane.offset = layout.bytes[plane.memory_plane];
    plane.pitch_bytes = plane.memory_plane == p
                            ? std::max(pitch_bytes[p], tight[p])
                            : static_cast<int>(int64_t{layout.planes[0].pitch_bytes} * tight[p] / tight[0]);
    const bool chroma = p == 1 || p == 2;
    const int rows = chroma ? AV_CEIL_RSHIFT(size.height, descriptor.log2_chroma_h) : size.height;
    layout.bytes[plane.memory_plane] += static_cast<size_t>(plane.pitch_bytes) * static_cast<size_t>(rows);
  }
  return layout;
}

}  // namespace lensd
