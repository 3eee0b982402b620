// A simulated V4L2 camera that delivers pictures, for tests of V4l2Capture and of the sources above it.
//
// The test and the thread that reads the camera may use it at the same time: take `mutex` to change its state
// while it is read.
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "tests/unit/core/media/camera/fake_camera.hpp"

namespace lensd {

/// The state of a camera, which outlives its open devices.
struct FakeCaptureState {
  struct Shot {
    std::vector<uint8_t> bytes;
    uint32_t flags = 0, sequence = 0;
    int64_t time_ns = 0;
  };
  std::mutex mutex;
  bool gone = false;                      ///< unplugged: every request fails with ENODEV
  std::map<unsigned long, int> failures;  ///< errno by request
  std::map<unsigned long, int> calls;     ///< number of requests by kind
  std::vector<uint32_t> formats{V4L2_PIX_FMT_YUYV};
  std::string bus = "usb-1";
  uint32_t capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  Extent size{64, 48};
  std::map<uint32_t, std::vector<Extent>> sizes;  ///< by format; the driver sets the nearest. Missing: `size`
  std::optional<v4l2_frmsize_stepwise> size_range;  ///< the driver scales to every size of this range
  bool rate_range = false;                          ///< rates are a range of 1 to 60 instead of 30
  uint32_t field = V4L2_FIELD_NONE;  ///< that the driver sets whatever is requested, unless `fields_follow`
  bool fields_follow = false;        ///< the driver sets the requested field
  std::deque<Shot> shots;            ///< pictures to deliver
  std::deque<v4l2_event> events;     ///< events to deliver
  uint32_t sequence = 0;             ///< of the next shot of push()
  int inputs = 1, input = 0;         ///< 0 inputs: the driver does not know requests for them
  Extent timings;                    ///< of the HDMI signal; empty: no such input
  std::vector<uint32_t> sources;     ///< inputs of the subscribed events for signal changes
  uint32_t input_status = 0;         ///< V4L2_IN_ST_…
  v4l2_std_id standard = 0, detected = 0;  ///< analogue inputs; 0: none
  uint32_t quantization = V4L2_QUANTIZATION_DEFAULT;
  uint32_t colorspace = V4L2_COLORSPACE_SRGB, xfer_func = V4L2_XFER_FUNC_DEFAULT;
  uint32_t set_format = 0;
  std::map<uint32_t, int> start_errors;  ///< errno of starting by format
  int opened = 0;

  /// Adds `count` pictures with these bytes; empty: a grey picture.
  void push(int count, std::vector<uint8_t> bytes = {}, uint32_t flags = 0) {
    const std::lock_guard lock(mutex);
    if (bytes.empty()) bytes.assign(picture_bytes(), 128);
    for (int i = 0; i < count; ++i) shots.push_back({bytes, flags, sequence++, 0});
  }
  size_t picture_bytes() const {
    return size_t{2} * static_cast<size_t>(size.width) * static_cast<size_t>(size.height);
  }
};

class FakeCapture : public FakeCamera {
 public:
  explicit FakeCapture(std::shared_ptr<FakeCaptureState> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    ++state_->opened;
  }

  bool is_open() const noexcept override { return true; }
  uint8_t* map(size_t bytes, int64_t offset, bool) noexcept override {
    error_ = 0;
    auto& memory = memory_.at(static_cast<size_t>(offset));
    memory.resize(bytes);
    return memory.data();
  }
  void unmap(uint8_t*, size_t) noexcept override {}
  int wait(int) noexcept override {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->gone) return POLLERR;
      if (!state_->events.empty()) return POLLPRI;
      if (!state_->shots.empty()) return POLLIN;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
  }

 protected:
  bool call(unsigned long request, void* data) noexcept override {
    {
      const std::lock_guard lock(state_->mutex);
      ++state_->calls[request];
      error_ = answer(request, data);
      if (error_ != kOther) return error_ == 0;
    }
    return FakeCamera::call(request, data);
  }

 private:
  static constexpr int kOther = -1;  ///< a request of FakeCamera

  int answer(unsigned long request, void* data) {
    if (state_->gone) return ENODEV;
    if (const auto failure = state_->failures.find(request); failure != state_->failures.end())
      return failure->second;
    switch (request) {
      case VIDIOC_QUERYCAP:
        return capability(*static_cast<v4l2_capability*>(data));
      case VIDIOC_ENUM_FMT:
        return describe_format(*static_cast<v4l2_fmtdesc*>(data));
      case VIDIOC_ENUM_FRAMESIZES:
        return frame_size(*static_cast<v4l2_frmsizeenum*>(data));
      case VIDIOC_ENUM_FRAMEINTERVALS:
        return interval(*static_cast<v4l2_frmivalenum*>(data));
      case VIDIOC_G_FMT:
      case VIDIOC_S_FMT:
        return format(*static_cast<v4l2_format*>(data), request == VIDIOC_S_FMT);
      case VIDIOC_S_INPUT:
        if (*static_cast<int*>(data) >= state_->inputs) return EINVAL;
        state_->input = *static_cast<int*>(data);
        return 0;
      case VIDIOC_G_INPUT:
        *static_cast<int*>(data) = state_->input;
        return state_->inputs ? 0 : ENOTTY;
      case VIDIOC_SUBSCRIBE_EVENT: {
        const auto& event = *static_cast<v4l2_event_subscription*>(data);
        if (event.type == V4L2_EVENT_SOURCE_CHANGE) state_->sources.push_back(event.id);
        return kOther;
      }
      case VIDIOC_G_DV_TIMINGS:
        static_cast<v4l2_dv_timings*>(data)->bt.width = static_cast<uint32_t>(state_->timings.width);
        static_cast<v4l2_dv_timings*>(data)->bt.height = static_cast<uint32_t>(state_->timings.height);
        return state_->timings.width ? 0 : ENODATA;
      case VIDIOC_ENUMINPUT:
        static_cast<v4l2_input*>(data)->status = state_->input_status;
        return 0;
      case VIDIOC_G_STD:
      case VIDIOC_QUERYSTD:
        *static_cast<v4l2_std_id*>(data) = request == VIDIOC_G_STD ? state_->standard : state_->detected;
        return state_->standard ? 0 : ENODATA;
      case VIDIOC_S_STD:
        if (!state_->standard) return ENODATA;
        state_->standard = *static_cast<v4l2_std_id*>(data);
        return 0;
      case VIDIOC_REQBUFS:
        static_cast<v4l2_requestbuffers*>(data)->count = kBuffers;
        queued_.clear();
        return 0;
      case VIDIOC_QUERYBUF:
        return describe_buffer(*static_cast<v4l2_buffer*>(data));
      case VIDIOC_QBUF:
        queued_.push_back(static_cast<v4l2_buffer*>(data)->index);
        return 0;
      case VIDIOC_DQBUF:
        return dequeue(*static_cast<v4l2_buffer*>(data));
      case VIDIOC_DQEVENT:
        return event(*static_cast<v4l2_event*>(data));
      case VIDIOC_STREAMON: {
        const auto failure = state_->start_errors.find(state_->set_format);
        return failure == state_->start_errors.end() ? 0 : failure->second;
      }
      case VIDIOC_STREAMOFF:
        return 0;
      default:
        return kOther;
    }
  }

  int capability(v4l2_capability& out) const {
    std::strncpy(reinterpret_cast<char*>(out.card), "Fake", sizeof out.card - 1);
    std::strncpy(reinterpret_cast<char*>(out.bus_info), state_->bus.c_str(), sizeof out.bus_info - 1);
    out.capabilities = state_->capabilities;
    return 0;
  }
  int describe_format(v4l2_fmtdesc& out) const {
    if (out.index >= state_->formats.size()) return EINVAL;
    out.pixelformat = state_->formats[out.index];
    std::strncpy(reinterpret_cast<char*>(out.description), "a format", sizeof out.description - 1);
    return 0;
  }
  int frame_size(v4l2_frmsizeenum& out) const {
    if (state_->size_range) {
      out.type = V4L2_FRMSIZE_TYPE_STEPWISE, out.stepwise = *state_->size_range;
      return out.index ? EINVAL : 0;
    }
    const auto listed = state_->sizes.find(out.pixel_format);
    const std::vector<Extent> sizes =
        listed == state_->sizes.end() ? std::vector<Extent>{state_->size} : listed->second;
    if (out.index >= sizes.size()) return EINVAL;
    const Extent size = sizes[out.index];
    out.type = V4L2_FRMSIZE_TYPE_DISCRETE;
    out.discrete = {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)};
    return 0;
  }
  int interval(v4l2_frmivalenum& out) const {
    if (out.index > 0) return EINVAL;
    if (state_->rate_range) {
      out.type = V4L2_FRMIVAL_TYPE_CONTINUOUS;
      out.stepwise = {{1, 60}, {1, 1}, {1, 1}};
      return 0;
    }
    out.type = V4L2_FRMIVAL_TYPE_DISCRETE, out.discrete = {1, 30};
    return 0;
  }
  int format(v4l2_format& given, bool set) {
    v4l2_pix_format& pixels = given.fmt.pix;
    if (set) state_->set_format = pixels.pixelformat;
    if (set && state_->size_range)
      state_->size = {static_cast<int>(pixels.width), static_cast<int>(pixels.height)};
    if (const auto listed = state_->sizes.find(pixels.pixelformat); set && listed != state_->sizes.end()) {
      const auto width = static_cast<int>(pixels.width);
      const auto difference = [&](Extent size) { return std::abs(size.width - width); };
      state_->size = *std::ranges::min_element(listed->second, {}, difference);
    }
    if (!state_->fields_follow || pixels.field == V4L2_FIELD_ANY) pixels.field = state_->field;
    pixels.width = static_cast<uint32_t>(state_->size.width);
    pixels.height = static_cast<uint32_t>(state_->size.height);
    pixels.bytesperline = 2 * pixels.width;
    pixels.sizeimage = pixels.bytesperline * pixels.height;
    pixels.colorspace = state_->colorspace, pixels.quantization = state_->quantization;
    pixels.xfer_func = state_->xfer_func;
    field_ = pixels.field;
    return 0;
  }
  int describe_buffer(v4l2_buffer& out) const {
    out.length = static_cast<uint32_t>(std::max<size_t>(state_->picture_bytes(), 65536));  // room for a JPEG
    out.m.offset = out.index;
    return 0;
  }
  int dequeue(v4l2_buffer& out) {
    if (state_->shots.empty() || queued_.empty()) return EAGAIN;
    FakeCaptureState::Shot shot = std::move(state_->shots.front());
    state_->shots.pop_front();
    out.index = queued_.front();
    queued_.pop_front();
    std::copy_n(shot.bytes.begin(), std::min(shot.bytes.size(), memory_[out.index].size()),
                memory_[out.index].begin());
    out.bytesused = static_cast<uint32_t>(shot.bytes.size());
    out.flags = shot.flags | V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    out.sequence = shot.sequence, out.field = field_;
    const int64_t time = shot.time_ns ? shot.time_ns : now_ns();
    out.timestamp = {time / 1'000'000'000, time % 1'000'000'000 / 1000};
    return 0;
  }
  int event(v4l2_event& out) {
    if (state_->events.empty()) return ENOENT;
    out = state_->events.front();
    state_->events.pop_front();
    return 0;
  }

  static constexpr size_t kBuffers = 4;
  const std::shared_ptr<FakeCaptureState> state_;
  std::array<std::vector<uint8_t>, kBuffers> memory_;
  std::deque<uint32_t> queued_;
  uint32_t field_ = V4L2_FIELD_NONE;
};

}  // namespace lensd
