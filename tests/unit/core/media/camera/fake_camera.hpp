// A simulated V4L2 device with controls of every type that lensd supports, for tests of camera controls.
#pragma once

#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_device.hpp"

namespace lensd {

class FakeCamera : public V4l2Device {
 public:
  struct Control {
    v4l2_query_ext_ctrl query = {};
    int64_t value = 0;
    std::string text;
  };

  FakeCamera() { restart(); }

  /// Restores the state of a device that was just plugged in.
  void restart() {
    controls.clear();
    written.clear(), subscribed.clear(), events.clear();
    presses = 0;
    add(1, V4L2_CTRL_TYPE_CTRL_CLASS, "User Controls", 0, 0, 0);
    add(2, V4L2_CTRL_TYPE_INTEGER, "Exposure", 0, 1000, 100, V4L2_CTRL_FLAG_INACTIVE);
    add(3, V4L2_CTRL_TYPE_MENU, "Auto Exposure", 0, 3, 3, V4L2_CTRL_FLAG_UPDATE);
    add(4, V4L2_CTRL_TYPE_INTEGER, "Gain", 0, 255, 10).query.step = 5;
    add(5, V4L2_CTRL_TYPE_BOOLEAN, "Mirror", 0, 1, 0);
    add(6, V4L2_CTRL_TYPE_INTEGER_MENU, "Power Line", 0, 2, 1);
    add(7, V4L2_CTRL_TYPE_BUTTON, "Focus Now", 0, 0, 0);
    add(8, V4L2_CTRL_TYPE_BITMASK, "Zones", 0, 0x1F, 1);
    add(9, V4L2_CTRL_TYPE_INTEGER64, "Serial Offset", INT64_MIN, INT64_MAX, 0);
    add(10, V4L2_CTRL_TYPE_STRING, "Owner", 2, 8, 0).text = "none";
    add(11, V4L2_CTRL_TYPE_INTEGER, "Temperature", 0, 100, 0,
        V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_VOLATILE);
  }

  /// uvcvideo marks no control as one that changes others, refuses writes to inactive controls, and reports
  /// changed flags only by an event.
  void behave_like_uvcvideo() {
    refuses_inactive = true;
    at(3).query.flags = 0;
  }

  Control& at(uint32_t id) {
    for (Control& control : controls)
      if (control.query.id == id) return control;
    throw std::out_of_range("control");
  }
  Control& add(uint32_t id, uint32_t type, const char* name, int64_t min, int64_t max, int64_t normal,
               uint32_t flags = 0) {
    Control& control = controls.emplace_back();
    control.query.id = id, control.query.type = type, control.query.flags = flags, control.query.step = 1;
    control.query.minimum = min, control.query.maximum = max, control.query.default_value = normal;
    std::strncpy(control.query.name, name, sizeof control.query.name - 1);
    control.value = normal;
    return control;
  }
  /// Returns the event that the driver sends when another program changes a control.
  v4l2_event change(uint32_t id, int64_t value, uint32_t changes = V4L2_EVENT_CTRL_CH_VALUE) {
    at(id).value = value;
    v4l2_event event = {};
    event.type = V4L2_EVENT_CTRL, event.id = id;
    event.u.ctrl.changes = changes, event.u.ctrl.value64 = value;
    if (at(id).query.type != V4L2_CTRL_TYPE_INTEGER64) event.u.ctrl.value = static_cast<int32_t>(value);
    return event;
  }

  std::vector<Control> controls;
  std::vector<uint32_t> written, subscribed;
  uint32_t failing = 0;    ///< ID of a control that cannot be described: EIO
  int failures = INT_MAX;  ///< how often `failing` fails
  uint32_t busy = 0;       ///< ID of a control that the driver refuses with EBUSY
  int write_error = 0;     ///< errno of all writes; 0: none
  int attempts = 0;        ///< number of writes, including those that failed
  bool unplugged = false;  ///< every request fails with ENODEV
  bool refuses_inactive = false;
  std::vector<v4l2_event> events;
  int presses = 0;

 protected:
  bool call(unsigned long request, void* data) noexcept override {
    error_ = unplugged ? ENODEV : handle(request, data);
    return error_ == 0;
  }

 private:
  int handle(unsigned long request, void* data) {
    if (request == VIDIOC_QUERY_EXT_CTRL) return query_control(*static_cast<v4l2_query_ext_ctrl*>(data));
    if (request == VIDIOC_QUERYMENU) return menu(*static_cast<v4l2_querymenu*>(data));
    if (request == VIDIOC_SUBSCRIBE_EVENT) {
      subscribed.push_back(static_cast<v4l2_event_subscription*>(data)->id);
      return 0;
    }
    if (request == VIDIOC_DQEVENT) return take_event(*static_cast<v4l2_event*>(data));
    if (request != VIDIOC_G_EXT_CTRLS && request != VIDIOC_S_EXT_CTRLS) return ENOTTY;
    v4l2_ext_control& given = *static_cast<v4l2_ext_controls*>(data)->controls;
    return request == VIDIOC_S_EXT_CTRLS ? set(given) : get(given);
  }
  int take_event(v4l2_event& out) {
    if (events.empty()) return ENOENT;
    out = events.front();
    events.erase(events.begin());
    return 0;
  }
  int query_control(v4l2_query_ext_ctrl& query) {
    const bool next = (query.id & V4L2_CTRL_FLAG_NEXT_CTRL) != 0;
    const uint32_t id = query.id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    for (const Control& control : controls)
      if (next ? control.query.id > id : control.query.id == id) {
        if (control.query.id == failing && failures-- > 0) return EIO;
        query = control.query;
        return 0;
      }
    return EINVAL;
  }
  int menu(v4l2_querymenu& item) {
    const bool numbers = at(item.id).query.type == V4L2_CTRL_TYPE_INTEGER_MENU;
    static constexpr const char* kModes[] = {"Auto", "Manual", "", "Aperture"};
    if (numbers) item.value = item.index == 0 ? 0 : 40 + 10 * int64_t{item.index};
    if (!numbers) std::memcpy(item.name, kModes[item.index], std::strlen(kModes[item.index]) + 1);
    return 0;
  }
  int get(v4l2_ext_control& given) {
    const Control& control = at(given.id);
    if (control.query.type == V4L2_CTRL_TYPE_STRING)
      std::memcpy(given.string, control.text.c_str(), control.text.size() + 1);
    else if (control.query.type == V4L2_CTRL_TYPE_INTEGER64)
      given.value64 = control.value;
    else
      given.value = static_cast<int32_t>(control.value);
    return 0;
  }
  int set(const v4l2_ext_control& given) {
    ++attempts;
    if (given.id == busy) return EBUSY;
    if (write_error) return write_error;
    Control& control = at(given.id);
    if (control.query.flags & V4L2_CTRL_FLAG_READ_ONLY) return EACCES;
    if (refuses_inactive && (control.query.flags & V4L2_CTRL_FLAG_INACTIVE)) return EACCES;
    written.push_back(given.id);
    if (control.query.type == V4L2_CTRL_TYPE_BUTTON) ++presses;
    if (control.query.type == V4L2_CTRL_TYPE_STRING)
      control.text = given.string;
    else
      control.value = control.query.type == V4L2_CTRL_TYPE_INTEGER64 ? int64_t{given.value64} : given.value;
    if (given.id != 3) return 0;
    at(2).query.flags = control.value == 1 ? 0 : V4L2_CTRL_FLAG_INACTIVE;
    events.push_back(change(2, at(2).value, V4L2_EVENT_CTRL_CH_FLAGS));
    return 0;
  }
};

}  // namespace lensd
