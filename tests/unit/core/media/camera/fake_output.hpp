// A simulated V4L2 device that takes pictures, for tests of VideoDevice.
#pragma once

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"

namespace lensd {

/// The state of a driver, which outlives its open devices. The driver shows a picture with show(), and keeps
/// the newest one, as vivid does.
struct FakeOutputState {
  uint32_t capabilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_STREAMING;
  std::map<unsigned long, int> failures;  ///< errno by request
  std::map<unsigned long, int> calls;     ///< number of requests by kind
  int write_error = 0;                    ///< errno of write(); 0: none
  uint32_t fourcc = 0;                    ///< that the driver sets whatever is requested; 0: as requested
  uint32_t width = 0;                     ///< likewise
  uint32_t padding = 0;                   ///< bytes after each row of the first plane
  bool rates = true;                      ///< VIDIOC_S_PARM sets the rate
  v4l2_format format = {};                ///< as set
  v4l2_fract interval = {};               ///< as set
  bool streaming = false, allocated = false;
  std::deque<uint32_t> queued, done;
  std::vector<std::vector<uint8_t>> memory{4};
  std::vector<std::vector<uint8_t>> shown;  ///< all pictures that were shown

  bool multi_planar() const { return !(capabilities & V4L2_CAP_VIDEO_OUTPUT); }
  /// Shows the oldest picture if a newer one is queued.
  void show() {
    if (!streaming || queued.size() < 2) return;
    shown.push_back(memory[queued.front()]);
    done.push_back(queued.front());
    queued.pop_front();
  }
};

class FakeOutput final : public V4l2Device {
 public:
  explicit FakeOutput(std::shared_ptr<FakeOutputState> state) : state_(std::move(state)) {}

  bool is_open() const noexcept override { return true; }
  uint8_t* map(size_t bytes, int64_t offset, bool writable) noexcept override {
    error_ = writable ? 0 : EACCES;
    auto& memory = state_->memory.at(static_cast<size_t>(offset));
    memory.assign(bytes, 0);
    return writable ? memory.data() : nullptr;
  }
  void unmap(uint8_t*, size_t) noexcept override {}
  int64_t write(const uint8_t* data, size_t bytes) noexcept override {
    error_ = state_->allocated ? EBUSY : state_->write_error;
    if (error_) return -1;
    state_->shown.emplace_back(data, data + bytes);
    return static_cast<int64_t>(bytes);
  }

 protected:
  bool call(unsigned long request, void* data) noexcept override {
    ++state_->calls[request];
    const auto failure = state_->failures.find(request);
    error_ = failure != state_->failures.end() ? failure->second : answer(request, data);
    return error_ == 0;
  }

 private:
  int answer(unsigned long request, void* data) {
    FakeOutputState& s = *state_;
    switch (request) {
      case VIDIOC_QUERYCAP:
        static_cast<v4l2_capability*>(data)->capabilities = s.capabilities;
        return 0;
      case VIDIOC_S_FMT:
        return set_format(*static_cast<v4l2_format*>(data));
      case VIDIOC_G_PARM:
        static_cast<v4l2_streamparm*>(data)->parm.output.capability = s.rates ? V4L2_CAP_TIMEPERFRAME : 0;
        return 0;
      case VIDIOC_S_PARM:
        s.interval = static_cast<v4l2_streamparm*>(data)->parm.output.timeperframe;
        return 0;
      case VIDIOC_REQBUFS:
        if (!(s.capabilities & V4L2_CAP_STREAMING)) return EINVAL;
        s.allocated = static_cast<v4l2_requestbuffers*>(data)->count > 0;
        if (s.allocated)
          static_cast<v4l2_requestbuffers*>(data)->count = static_cast<uint32_t>(s.memory.size());
        return 0;
      case VIDIOC_QUERYBUF:
        return describe_buffer(*static_cast<v4l2_buffer*>(data));
      case VIDIOC_QBUF:
        return queue(*static_cast<v4l2_buffer*>(data));
      case VIDIOC_DQBUF:
        if (!s.streaming) return EINVAL;
        if (s.done.empty()) return EAGAIN;
        static_cast<v4l2_buffer*>(data)->index = s.done.front();
        s.done.pop_front();
        return 0;
      case VIDIOC_STREAMON:
      case VIDIOC_STREAMOFF:
        s.streaming = request == VIDIOC_STREAMON;
        if (!s.streaming) s.queued.clear(), s.done.clear();
        return 0;
      default:
        return ENOTTY;
    }
  }

  int set_format(v4l2_format& given) {
    FakeOutputState& s = *state_;
    if (s.multi_planar()) {
      v4l2_pix_format_mplane& multi = given.fmt.pix_mp;
      multi.num_planes = 1;
      multi.plane_fmt[0].bytesperline = multi.width + s.padding;
      bytes_ = multi.plane_fmt[0].bytesperline * multi.height * 3 / 2;
    } else {
      v4l2_pix_format& single = given.fmt.pix;
      if (s.fourcc) single.pixelformat = s.fourcc;
      if (s.width) single.width = s.width;
      single.bytesperline = single.width + s.padding;
      bytes_ = single.bytesperline * single.height * 3 / 2;
    }
    s.format = given;
    return 0;
  }
  int describe_buffer(v4l2_buffer& out) const {
    if (state_->multi_planar()) {
      out.m.planes[0].length = bytes_, out.m.planes[0].m.mem_offset = out.index;
    } else {
      out.length = bytes_, out.m.offset = out.index;
    }
    return 0;
  }
  int queue(const v4l2_buffer& given) {
    const uint32_t used = state_->multi_planar() ? given.m.planes[0].bytesused : given.bytesused;
    if (used != bytes_ || std::ranges::find(state_->queued, given.index) != state_->queued.end())
      return EINVAL;
    state_->queued.push_back(given.index);
    return 0;
  }

  const std::shared_ptr<FakeOutputState> state_;
  uint32_t bytes_ = 0;
};

}  // namespace lensd
