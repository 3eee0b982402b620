// The signal at the input of a V4l2Capture: whether there is one, and its timings or TV standard.
#include <cerrno>

#include "core/base/log.hpp"
#include "core/media/camera/v4l2_capture.hpp"

namespace lensd {
namespace {

constexpr int64_t kSignalNs = 1'000'000'000;

CameraSignal signal_of(uint32_t status) {
  if (status & V4L2_IN_ST_NO_POWER) return CameraSignal::no_power;
  if (status & V4L2_IN_ST_NO_SIGNAL) return CameraSignal::none;
  return status & (V4L2_IN_ST_NO_SYNC | V4L2_IN_ST_NO_H_LOCK) ? CameraSignal::unstable : CameraSignal::good;
}

}  // namespace

/// Sets the timings of the connected signal, which an HDMI grabber needs to deliver pictures, and subscribes
/// to the event for signal changes of the current input. Other devices refuse these requests. Throws Error if
/// there is no stable signal. `any_standard`: no TV standard is configured; set the one that the driver
/// detects.
void V4l2Capture::adopt_signal(bool any_standard) {
  v4l2_event_subscription change = {};
  change.type = V4L2_EVENT_SOURCE_CHANGE;
  if (int input = 0; device_.query(VIDIOC_G_INPUT, input)) change.id = static_cast<uint32_t>(input);
  device_.query(VIDIOC_SUBSCRIBE_EVENT, change);
  v4l2_dv_timings timings = {};
  if (device_.query(VIDIOC_QUERY_DV_TIMINGS, timings)) {
    device_.query(VIDIOC_S_DV_TIMINGS, timings);
    return;
  }
  if (device_.error() == ENOLINK) fail("no signal at the input");
  if (device_.error() == ENOLCK) fail("no stable signal at the input");
  if (device_.error() == ERANGE) fail("no stable signal at the input: its timings are out of range");
  if (!device_.query(VIDIOC_G_STD, standard_)) standard_ = 0;
  v4l2_std_id detected = 0;
  if (!any_standard || !device_.query(VIDIOC_QUERYSTD, detected) || detected == V4L2_STD_UNKNOWN) return;
  // A driver that cannot distinguish standards returns several.
  if ((detected & standard_) == 0 && device_.query(VIDIOC_S_STD, detected)) {
    log::info("{}: the TV standard of the signal is {:#x} instead of {:#x}", where_, detected, standard_);
    standard_ = detected;
  }
}

/// Asks the driver once a second whether there is a signal. Most webcams have no such state.
void V4l2Capture::check_signal(int64_t now) noexcept {
  if (!has_input_status_ || now - signal_ns_ < kSignalNs) return;
  signal_ns_ = now;
  int number = 0;
  v4l2_input input = {};
  has_input_status_ = device_.query(VIDIOC_G_INPUT, number);
  input.index = static_cast<uint32_t>(number);
  has_input_status_ = has_input_status_ && device_.query(VIDIOC_ENUMINPUT, input);
  monitor_->signal = has_input_status_ ? signal_of(input.status) : CameraSignal::good;
  if (monitor_->signal != CameraSignal::good) suspect_mode(false);
}

}  // namespace lensd
