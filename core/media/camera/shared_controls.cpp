#include "core/media/camera/shared_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/contains.hpp"
#include "core/media/camera/mode_controls.hpp"

namespace lensd {
namespace {

constexpr int64_t kWatchedNs = 1'000'000'000;
/// Limit of queued writes. Only repeated actions (is_action()) can reach it.
constexpr size_t kMaxWrites = 1024;
/// Limit of the texts that notice_once() remembers, so that varying values cannot fill the memory. Further
/// texts are not reported.
constexpr size_t kMaxNoticed = 64;

/// Returns the values of format, size and rate, sorted.
ControlValues mode_of(ControlValues values) {
  std::erase_if(values, [](const auto& one) { return !ModeControls::has(one.first); });
  std::ranges::sort(values, {}, &std::pair<std::string, ParamValue>::first);
  return values;
}

using CheckedValues = std::vector<std::pair<const SourceControl*, ParamValue>>;

/// Sorts the values so that controls that change other controls come first. uvcvideo does not mark such
/// controls; there, only booleans and menus override other controls.
void leaders_first(CheckedValues& values) {
  std::ranges::stable_sort(values, {}, [](const auto& one) {
    return one.first->leads ? 0 : may_override(*one.first) ? 1 : 2;
  });
}

/// Returns true if `values` has another control that may override `control`.
bool with_other_leader(const CheckedValues& values, const SourceControl& control) {
  return std::ranges::any_of(
      values, [&](const auto& one) { return one.first != &control && may_override(*one.first); });
}

}  // namespace

SharedControls::SharedControls(ControlValues given, KeptControls kept)
    : given_(std::move(given)), kept_(std::move(kept)), wanted_(given_), working_mode_(mode_of(given_)) {}

std::shared_ptr<const SourceControls> SharedControls::current(bool keep_fresh) {
  if (keep_fresh) read_ns_.store(now_ns(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  return current_;
}

bool SharedControls::watched(int64_t now_ns) const noexcept {
  return now_ns - read_ns_.load(std::memory_order_relaxed) < kWatchedNs;
}

std::string SharedControls::set(const ControlValues& values) {
  const std::lock_guard lock(mutex_);
  if (!current_) {
    for (const auto& [name, value] : values) set_value(wanted_, name, value);
    return {};
  }
  CheckedValues checked;
  const auto controls = current_;
  for (const auto& [name, value] : values) {
    const SourceControl* control = controls->find(name);
    if (!control) return unknown_control(*controls, name);
    CheckedControl result = check_control(*control, value);
    if (!result.problem.empty()) return result.problem;
    checked.emplace_back(control, std::move(result.value));
  }
  leaders_first(checked);
  for (auto& [control, value] : checked) {
    queue(*control,
          {.name = control->name, .value = value, .may_be_overridden = with_other_leader(checked, *control)});
    if (!is_action(*control)) set_value(wanted_, control->name, std::move(value));
  }
  publish_locked(controls->list);
  return {};
}

std::string SharedControls::set_allowed(const ControlValues& values) {
  const auto controls = current(false);
  if (!controls) return set(values);
  ControlValues allowed;
  std::string skipped;
  for (const auto& [name, value] : values) {
    const SourceControl* control = controls->find(name);
    if (control && check_control(*control, value).problem.empty())
      allowed.emplace_back(name, value);
    else
      skipped += (skipped.empty() ? "" : ", ") + name;
  }
  if (std::string problem = set(allowed); !problem.empty()) return problem;  // another camera was connected
  return skipped.empty() ? "" : "this camera does not have or allow these values: " + skipped;
}

std::string SharedControls::reset(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  const auto controls = current_;
  if (!controls) return "the camera has not been connected yet";
  CheckedValues defaults;
  const auto settable = [](const SourceControl& c) {
    return !c.read_only && !c.locked && c.kind != ControlKind::button && c.kind != ControlKind::text;
  };
  for (const std::string& name : names) {
    const SourceControl* control = controls->find(name);
    if (!control) return unknown_control(*controls, name);
    if (!settable(*control)) return control->name + " cannot be reset: it has no default or cannot be set";
    defaults.emplace_back(control, control->initial);
  }
  if (names.empty())
    for (const SourceControl& control : controls->list)
      if (settable(control) && !is_action(control)) defaults.emplace_back(&control, control.initial);
  leaders_first(defaults);
  for (auto& [control, value] : defaults) {
    queue(*control, {.name = control->name, .value = std::move(value), .purpose = Purpose::reset});
    set_wanted(control->name, std::nullopt);
  }
  publish_locked(controls->list);
  return {};
}

/// Returns the wanted value of a control. Call with mutex_ locked.
std::optional<ParamValue> SharedControls::wanted_value(const std::string& name) const {
  for (const auto& [known, value] : wanted_)
    if (known == name) return value;
  return std::nullopt;
}

/// Sets the wanted value of a control, or forgets it. Call with mutex_ locked.
void SharedControls::set_wanted(const std::string& name, const std::optional<ParamValue>& value) {
  if (value) return set_value(wanted_, name, *value);
  std::erase_if(wanted_, [&](const auto& one) { return one.first == name; });
}

/// Queues a write. Removes an older queued write to the same control, unless it is an action, so that a
/// dragged slider does not fill the queue. Call with mutex_ locked, before the wanted value changes.
void SharedControls::queue(const SourceControl& control, Write write) {
  write.previous = wanted_value(control.name);
  if (!is_action(control))
    std::erase_if(writes_, [&](const Write& queued) {
      if (queued.name != control.name) return false;
      write.previous = queued.previous;  // the queued value was never set
      return true;
    });
  if (writes_.size() < kMaxWrites) writes_.push_back(std::move(write));
  pending_.store(true, std::memory_order_release);
}

/// Adds the values that are kept for the camera, without replacing wanted values. Call with mutex_ locked.
void SharedControls::add_kept_values() {
  if (const auto kept = kept_.find(camera_->name()); kept != kept_.end())
    for (const auto& [name, value] : kept->second)
      if (!wanted_value(name)) wanted_.emplace_back(name, value);
}

/// Selects the wanted values for `camera`. If the previous camera was another one, stores its values and
/// clears the queue. Call with mutex_ locked.
void SharedControls::select_camera(const CameraIdentity& camera) {
  if (camera_ && camera_->matches(camera)) {
    camera_->bus = camera.bus;
    // A link that was once shared stays unused: it may have pointed to the other camera.
    camera_->shared_link = camera_->shared_link || camera.shared_link;
    if (!camera_->link.empty() || camera.link.empty() || camera_->shared_link) return;
    camera_->link = camera.link;
    return add_kept_values();
  }
  if (camera_) {  // another camera: keep the values of the previous one
    kept_[camera_->name()] = wanted_;
    wanted_ = given_;
    working_mode_ = mode_of(given_);
    previous_mode_.reset();
  }
  camera_ = camera;
  add_kept_values();
  writes_.clear();
  pending_.store(false, std::memory_order_release);
}

ControlValues SharedControls::wanted(const CameraIdentity& camera) {
  const std::lock_guard lock(mutex_);
  select_camera(camera);
  requested_mode_ = mode_of(wanted_);
  if (requested_mode_ == working_mode_)
    previous_mode_.reset();
  else if (!previous_mode_)
    previous_mode_ = working_mode_, mode_failures_ = 0;
  return wanted_;
}

std::vector<SharedControls::Write> SharedControls::connect(const CameraIdentity& camera,
                                                           std::vector<SourceControl> controls) {
  const std::lock_guard lock(mutex_);
  select_camera(camera);
  auto next = std::make_shared<SourceControls>();
  next->device = camera_->name(), next->list = std::move(controls);
  next->version = current_ ? current_->version : 0;
  CheckedValues checked;
  for (auto& [name, value] : wanted_) {
    const SourceControl* control = next->find(name);
    CheckedControl result = control ? check_control(*control, value) : CheckedControl{};
    if (!control) result.problem = unknown_control(*next, name);
    if (!result.problem.empty()) {
      notice_once(result.problem);
      continue;
    }
    value = result.value;
    checked.emplace_back(control, std::move(result.value));
  }
  leaders_first(checked);
  std::vector<Write> writes;
  for (auto& [control, value] : checked)
    writes.push_back({.name = control->name, .value = value, .previous = value, .purpose = Purpose::restore});
  // Forget actions that were requested before the first connection, so that only this connection runs them.
  std::erase_if(wanted_, [&](const auto& one) {
    const SourceControl* control = next->find(one.first);
    return control && is_action(*control) && !contains(given_, one);
  });
  // The returned writes replace those of the previous connection.
  std::erase_if(writes_, [](const Write& write) { return write.purpose == Purpose::restore; });
  for (Write& write : writes_) write.failures = 0;
  pending_.store(!writes_.empty(), std::memory_order_release);
  current_ = next;
  publish_locked(next->list);
  return writes;
}

std::optional<SharedControls::Write> SharedControls::take_write() {
  const std::lock_guard lock(mutex_);
  if (writes_.empty()) return std::nullopt;
  Write oldest = std::move(writes_.front());
  writes_.pop_front();
  pending_.store(!writes_.empty(), std::memory_order_release);
  return oldest;
}

void SharedControls::put_back(Write write) {
  const std::lock_guard lock(mutex_);
  const auto newer = std::ranges::find(writes_, write.name, &Write::name);
  const SourceControl* control = current_ ? current_->find(write.name) : nullptr;
  if (newer != writes_.end() && control && !is_action(*control)) {
    newer->previous = std::move(write.previous);
    return;
  }
  writes_.push_front(std::move(write));
  pending_.store(true, std::memory_order_release);
}

void SharedControls::publish(const std::vector<SourceControl>& controls) {
  const std::lock_guard lock(mutex_);
  if (current_) publish_locked(controls);
}

/// Returns the wanted values that differ from the configured ones. Call with mutex_ locked.
ControlValues SharedControls::chosen() const {
  ControlValues values = wanted_;
  std::erase_if(values, [&](const auto& one) { return contains(given_, one); });
  return values;
}

/// Publishes `controls` with the values of queued writes. Call with mutex_ locked.
void SharedControls::publish_locked(std::vector<SourceControl> controls) {
  for (const Write& write : writes_)
    for (SourceControl& control : controls)
      if (control.name == write.name && !is_action(control)) control.value = write.value;
  ControlValues wanted = chosen();
  if (controls == current_->list && wanted == current_->wanted && current_->version > 0) return;
  auto next = std::make_shared<SourceControls>();
  next->device = current_->device, next->version = current_->version + 1;
  next->list = std::move(controls), next->wanted = std::move(wanted);
  current_ = std::move(next);
}

void SharedControls::undo_write(const Write& write, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  const auto newer = std::ranges::find(writes_, write.name, &Write::name);
  if (newer != writes_.end())
    newer->previous = write.previous;
  else
    set_wanted(write.name, write.previous);
  notices_.add(true, problem);
}

void SharedControls::warn_once(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  notice_once(problem);
}

void SharedControls::restart(const ControlValues& previous, const std::vector<std::string>& released) {
  const std::lock_guard lock(mutex_);
  if (!previous_mode_) previous_mode_ = previous;
  mode_failures_ = 0;
  for (const std::string& name : released) {
    if (contains(writes_, name, &Write::name)) continue;  // a queued write sets a new value
    std::erase_if(wanted_, [&](const auto& one) { return one.first == name; });
    notices_.add(false, fmt::format("{} is chosen automatically now, because the camera has no mode with the "
                                    "requested format, size and rate",
                                    name));
  }
  restart_ = true;
}

void SharedControls::mode_works() {
  const std::lock_guard lock(mutex_);
  previous_mode_.reset();
  working_mode_ = requested_mode_;
}

void SharedControls::mode_failed(int error) {
  constexpr int kAbsent[] = {ENOENT, ENODEV, ENXIO, ESHUTDOWN, EACCES, EPERM, EBUSY};
  constexpr int kUnusable[] = {0, EINVAL, ENOSPC, ENOMEM, ERANGE};
  constexpr int kMaxFailures = 3;
  const std::lock_guard lock(mutex_);
  if (contains(kAbsent, error)) return suspect_mode(false);
  suspect_mode(contains(kUnusable, error) || ++mode_failures_ >= kMaxFailures);
}

bool SharedControls::revert_mode(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!previous_mode_ || !mode_suspected_) return false;
  std::erase_if(wanted_, [](const auto& one) { return ModeControls::has(one.first); });
  std::erase_if(writes_, [](const Write& write) { return ModeControls::has(write.name); });
  pending_.store(!writes_.empty(), std::memory_order_release);
  for (const auto& [name, value] : *previous_mode_) set_value(wanted_, name, value);
  previous_mode_.reset();
  notices_.add(
      true, fmt::format("the camera does not play in this mode ({}); the previous mode is restored", reason));
  return true;
}

void SharedControls::notice_once(const std::string& text) {
  if (noticed_.size() < kMaxNoticed && noticed_.insert(text).second) notices_.add(true, text);
}

}  // namespace lensd
