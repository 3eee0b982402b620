#include "core/media/camera/camera_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/contains.hpp"

namespace lensd {
namespace {

/// Maximum time for writes between two pictures. The driver's buffers hold the pictures that arrive
/// meanwhile.
constexpr int64_t kWriteBudgetNs = 20'000'000;
constexpr int64_t kRefreshNs = 500'000'000;
/// A value is reported as refused after its writes have failed with connection errors for this time and this
/// many times. The kernel needs up to 250 ms to notice that a USB device was unplugged.
constexpr int64_t kFailingNs = 500'000'000;
constexpr int kAttempts = 3;
constexpr int64_t kWriteRetryNs = 100'000'000;

std::string refusal(const SourceControl& control, const ParamValue& value, int error) {
  const std::string what = fmt::format("cannot set {} to {}", control.name, control_text(control, value));
  switch (error) {
    case EBUSY:
      return what + ": the driver refuses it while the camera streams";
    case EACCES:
      return what + ": the driver does not allow it now";
    case EINVAL:
    case ERANGE:
      return what + ": the driver does not accept the value";
    default:
      return fmt::format("{}: {}", what, std::strerror(error));
  }
}

/// Returns true for an errno that an unplugged device may cause, so that a retry makes sense. Returns false
/// for errors that concern the value, and for ETIMEDOUT, because each attempt may take seconds.
bool is_connection_error(int error) {
  constexpr int kRefusals[] = {EINVAL, ERANGE, EACCES, EPERM, EBUSY, ENOTTY, ETIMEDOUT};
  return !contains(kRefusals, error);
}

}  // namespace

CameraControls::CameraControls(V4l2Device& device, std::shared_ptr<SharedControls> shared,
                               const CameraIdentity& identity, ModeControls mode)
    : device_(device),
      shared_(std::move(shared)),
      mode_(std::move(mode)),
      controls_(read_controls(device)),
      time_ns_(now_ns()) {
  for (const SourceControl& control : controls_) {
    v4l2_event_subscription request = {};
    request.type = V4L2_EVENT_CTRL, request.id = control.id;
    // Without feedback the driver would not report which other controls our writes change.
    request.flags = V4L2_EVENT_SUB_FL_ALLOW_FEEDBACK;
    device_.query(VIDIOC_SUBSCRIBE_EVENT, request);
  }
  apply_all(shared_->connect(identity, all()));
  apply_activated();
  shared_->publish(all());
}

std::vector<SourceControl> CameraControls::all() const {
  std::vector<SourceControl> list = mode_.list();
  list.insert(list.end(), controls_.begin(), controls_.end());
  return list;
}

void CameraControls::apply_mode(const std::string& name, const ParamValue& value) {
  const auto current = std::ranges::find(mode_.list(), name, &SourceControl::name);
  if (current == mode_.list().end() || current->value == value) return;
  const ControlValues previous = mode_.chosen();
  const std::vector<std::string> released = mode_.set(name, value);
  shared_->restart(previous, released);
  mode_changed_ = changed_ = true;
}

SourceControl* CameraControls::find(const std::string& name) {
  const auto found = std::ranges::find(controls_, name, &SourceControl::name);
  return found == controls_.end() ? nullptr : &*found;
}

/// Checks and writes a value, then reads back what the driver has set. Reports a refused value.
CameraControls::Applied CameraControls::apply(const SharedControls::Write& write) {
  const std::string& name = write.name;
  SourceControl* control = find(name);
  if (!control) return Applied::refused;
  changed_ = true;
  std::erase_if(overridden_, [&](const auto& one) { return one.name == name; });
  const auto refuse = [&](const std::string& problem) {
    const bool again = write.purpose == SharedControls::Purpose::restore;
    again ? shared_->warn_once(problem) : shared_->undo_write(write, problem);
    return Applied::refused;
  };
  // Flags and range may have changed since the value was queued, for example by the previous write. The
  // driver's event about that was not read yet.
  refresh_limits(device_, *control);
  const CheckedControl checked = check_control(*control, write.value);
  if (!checked.problem.empty()) return refuse(checked.problem);
  const bool written = write_value(device_, *control, checked.value);
  const int error = device_.error();
  // Do not repeat a failed action, because the camera may have moved nevertheless.
  const bool repeatable = !is_action(*control) && is_connection_error(error);
  if (!written && is_gone(error) && !is_action(*control)) return Applied::device_gone;
  if (control->inactive && !is_action(*control))
    overridden(write, checked.value);
  else if (!written && repeatable &&
           (write.failures + 1 < kAttempts || time_ns_ - write.failed_ns < kFailingNs))
    return Applied::failed;
  else if (!written)
    return refuse(refusal(*control, checked.value, error));
  if (written)
    refresh_after(*control);
  else
    read_value(device_, *control);
  return Applied::done;
}

/// Stores a write to an inactive control for apply_activated(). Does not store a reset to the default: the
/// control that overrides this one then decides the value.
void CameraControls::overridden(const SharedControls::Write& write, const ParamValue& value) {
  if (write.purpose == SharedControls::Purpose::reset) return;
  overridden_.push_back(
      {.name = write.name, .value = value, .previous = value, .purpose = SharedControls::Purpose::restore});
  if (write.purpose == SharedControls::Purpose::set && !write.may_be_overridden)
    shared_->notice(fmt::format("{} takes effect when no other control overrides it", write.name));
}

/// Reads what a successful write may have changed.
void CameraControls::refresh_after(SourceControl& written) {
  if (written.leads) return refresh_all();
  read_value(device_, written);
  if (!may_override(written)) return;
  // The driver reports values that change with the flags by events.
  for (SourceControl& control : controls_) refresh_limits(device_, control);
}

/// Puts a failed write back into the queue.
void CameraControls::retry(SharedControls::Write write) {
  if (write.failures++ == 0) write.failed_ns = time_ns_;
  retry_ns_ = time_ns_ + kWriteRetryNs;
  shared_->put_back(std::move(write));
}

/// Writes stored values again. Queues failed writes in the same order.
void CameraControls::apply_all(const std::vector<SharedControls::Write>& writes) {
  std::vector<SharedControls::Write> failed;
  for (const SharedControls::Write& write : writes)
    if (apply(write) == Applied::failed) failed.push_back(write);
  for (auto write = failed.rbegin(); write != failed.rend(); ++write) retry(std::move(*write));
}

/// Repeats the writes in overridden_ whose controls have become active.
void CameraControls::apply_activated() {
  std::vector<SharedControls::Write> writes = overridden_;
  std::erase_if(writes, [&](const SharedControls::Write& write) {
    const SourceControl* control = find(write.name);
    return !control || control->inactive;
  });
  apply_all(writes);
}

void CameraControls::refresh_all() {
  for (SourceControl& control : controls_) {
    refresh_description(device_, control);
    read_value(device_, control);
  }
}

void CameraControls::take_event(const v4l2_event& event) {
  const auto control = std::ranges::find(controls_, event.id, &SourceControl::id);
  if (event.type != V4L2_EVENT_CTRL || control == controls_.end()) return;
  const v4l2_event_ctrl& change = event.u.ctrl;
  if (change.changes & ~static_cast<uint32_t>(V4L2_EVENT_CTRL_CH_VALUE))
    refresh_description(device_, *control);
  const bool carries_value = control->kind != ControlKind::text && control->kind != ControlKind::button;
  if (!carries_value)
    read_value(device_, *control);
  else if (change.changes & V4L2_EVENT_CTRL_CH_VALUE)
    control->value = control_value(*control, control->wide ? int64_t{change.value64} : int64_t{change.value});
  changed_ = true;
}

void CameraControls::write_queued() {
  for (int64_t time = time_ns_; shared_->has_writes() && time - time_ns_ < kWriteBudgetNs; time = now_ns()) {
    auto write = shared_->take_write();
    if (!write) return;
    if (ModeControls::has(write->name)) {
      apply_mode(write->name, write->value);
      continue;
    }
    const Applied applied = apply(*write);
    if (applied == Applied::failed) return retry(std::move(*write));
    if (applied != Applied::device_gone) continue;
    return shared_->put_back(std::move(*write));  // for the next connection
  }
}

void CameraControls::service(int64_t now) {
  time_ns_ = now;
  if (now >= retry_ns_) write_queued();
  if (now - refreshed_ns_ >= kRefreshNs && shared_->watched(now)) {
    refreshed_ns_ = now;
    for (SourceControl& control : controls_)
      if (control.self_changing) read_value(device_, control), changed_ = true;
  }
  if (!changed_) return;
  apply_activated();
  changed_ = false;
  shared_->publish(all());
}

}  // namespace lensd
