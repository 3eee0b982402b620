#include "core/media/camera/v4l2_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "core/base/contains.hpp"
#include "core/base/log.hpp"

namespace lensd {
namespace {

/// Maximum numbers of entries of a list to query. A faulty driver's list might not end.
constexpr size_t kMaxControls = 1024;
constexpr int64_t kMaxChoices = 1024;

std::string text_of(const char* bytes, size_t size) {
  return std::string(bytes, std::find(bytes, bytes + size, '\0'));
}

bool known_type(uint32_t type, ControlKind& kind) {
  switch (type) {
    case V4L2_CTRL_TYPE_INTEGER:
    case V4L2_CTRL_TYPE_INTEGER64:
      kind = ControlKind::integer;
      return true;
    case V4L2_CTRL_TYPE_BOOLEAN:
      kind = ControlKind::boolean;
      return true;
    case V4L2_CTRL_TYPE_MENU:
    case V4L2_CTRL_TYPE_INTEGER_MENU:
      kind = ControlKind::menu;
      return true;
    case V4L2_CTRL_TYPE_BUTTON:
      kind = ControlKind::button;
      return true;
    case V4L2_CTRL_TYPE_BITMASK:
      kind = ControlKind::bitmask;
      return true;
    case V4L2_CTRL_TYPE_STRING:
      kind = ControlKind::text;
      return true;
    default:
      return false;
  }
}

/// Reads the entries of a menu. Drivers may skip numbers, and some use the same text for several entries.
void read_choices(const MenuItem& item, SourceControl& control) {
  const int64_t last = std::min(control.max, control.min + kMaxChoices);
  for (int64_t number = control.min; number <= last; ++number) {
    std::string text = item(static_cast<uint32_t>(number));
    if (text.empty()) continue;
    if (contains(control.choices, text)) text += fmt::format(" ({})", number);
    control.choices.push_back(std::move(text));
    control.numbers.push_back(number);
  }
}

ParamValue empty_value(ControlKind kind) {
  if (kind == ControlKind::boolean || kind == ControlKind::button) return false;
  if (kind == ControlKind::integer || kind == ControlKind::bitmask) return int64_t{0};
  return std::string();
}

/// Returns the driver's number for a value that check_control() has converted. Not for text controls.
int64_t raw_value(const SourceControl& control, const ParamValue& value) {
  if (control.kind == ControlKind::button) return 1;
  if (const bool* on = std::get_if<bool>(&value)) return *on;
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  const auto entry = std::ranges::find(control.choices, std::get<std::string>(value));
  return entry == control.choices.end()
             ? control.min
             : control.numbers[static_cast<size_t>(entry - control.choices.begin())];
}

/// Returns true if each write of the control moves the camera or the lens. Some drivers do not set the flags
/// that the kernel defines for these controls.
bool moves(const v4l2_query_ext_ctrl& query) {
  constexpr uint32_t kFlags = V4L2_CTRL_FLAG_WRITE_ONLY | V4L2_CTRL_FLAG_EXECUTE_ON_WRITE;
  switch (query.id) {
    case V4L2_CID_PAN_RELATIVE:
    case V4L2_CID_TILT_RELATIVE:
    case V4L2_CID_FOCUS_RELATIVE:
    case V4L2_CID_ZOOM_RELATIVE:
    case V4L2_CID_ZOOM_CONTINUOUS:
    case V4L2_CID_IRIS_RELATIVE:
    case V4L2_CID_PAN_SPEED:
    case V4L2_CID_TILT_SPEED:
      return true;
    default:
      return query.type == V4L2_CTRL_TYPE_INTEGER && (query.flags & kFlags) == kFlags;
  }
}

std::string menu_item(V4l2Device& device, uint32_t id, uint32_t index, bool numbers) {
  v4l2_querymenu item = {};
  item.id = id, item.index = index;
  if (!device.query(VIDIOC_QUERYMENU, item)) return {};
  return numbers ? fmt::format("{}", static_cast<int64_t>(item.value)) : v4l2_text(item.name);
}

bool query_control(V4l2Device& device, uint32_t id, v4l2_query_ext_ctrl& out) {
  v4l2_query_ext_ctrl query = {};
  query.id = id;
  if (!device.query(VIDIOC_QUERY_EXT_CTRL, query)) return false;
  out = query;
  return true;
}

MenuItem menu_of(V4l2Device& device, const v4l2_query_ext_ctrl& query) {
  return [&device, id = query.id, numbers = query.type == V4L2_CTRL_TYPE_INTEGER_MENU](uint32_t index) {
    return menu_item(device, id, index, numbers);
  };
}

/// Returns true if this error means the end of the list; false if it means that a control does not answer.
bool ends_list(int error) {
  return not_offered(error) || is_gone(error);
}

/// Finds the first control after `id` that answers, by querying single IDs. Returns false if there is none.
bool skip_control(V4l2Device& device, uint32_t id, v4l2_query_ext_ctrl& query) {
  log::info("a control of the camera after {:#x} cannot be read: {}", id, std::strerror(device.error()));
  constexpr uint32_t kEntries = 64;
  for (const uint32_t first : {V4L2_CID_USER_CLASS, V4L2_CID_BASE, V4L2_CID_CAMERA_CLASS,
                               V4L2_CID_CAMERA_CLASS_BASE, V4L2_CID_PRIVATE_BASE}) {
    const uint32_t last = first + kEntries - 1;
    for (uint32_t next = std::max(first, id + 1); next <= last; ++next) {
      if (query_control(device, next, query)) return true;
      if (is_gone(device.error())) return false;
    }
    if (last <= id) continue;
    if (query_control(device, last | V4L2_CTRL_FLAG_NEXT_CTRL, query)) return true;
    if (ends_list(device.error())) return false;
  }
  return false;
}

/// Replaces `query` with the control after it. Returns false at the end of the list. Before Linux 6.16,
/// uvcvideo returns the camera's error if a control does not answer; skip_control() then finds the next one.
bool next_control(V4l2Device& device, v4l2_query_ext_ctrl& query) {
  constexpr int kAttempts = 3;
  const uint32_t id = query.id;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (query_control(device, id | V4L2_CTRL_FLAG_NEXT_CTRL, query)) return true;
    if (ends_list(device.error())) return false;
    if (device.error() == ETIMEDOUT) break;  // each attempt may take seconds
  }
  return skip_control(device, id, query);
}

}  // namespace

void update_control(const v4l2_query_ext_ctrl& query, SourceControl& control) {
  control.inactive = (query.flags & V4L2_CTRL_FLAG_INACTIVE) != 0;
  control.read_only = (query.flags & V4L2_CTRL_FLAG_READ_ONLY) != 0;
  control.locked = (query.flags & V4L2_CTRL_FLAG_GRABBED) != 0;
  control.write_only = (query.flags & V4L2_CTRL_FLAG_WRITE_ONLY) != 0;
  control.self_changing = (query.flags & V4L2_CTRL_FLAG_VOLATILE) != 0;
  control.leads = (query.flags & V4L2_CTRL_FLAG_UPDATE) != 0;
  control.moves = moves(query);
  if (control.kind == ControlKind::menu) return;
  control.min = query.minimum, control.max = query.maximum;
  control.step = static_cast<int64_t>(std::clamp<uint64_t>(query.step, 1, INT64_MAX));
  // The kernel may sign-extend the 32-bit mask.
  if (control.kind == ControlKind::bitmask) control.min = 0, control.max &= 0xFFFFFFFF;
  if (control.kind != ControlKind::text) control.initial = control_value(control, query.default_value);
}

bool describe_control(const v4l2_query_ext_ctrl& query, const MenuItem& item, SourceControl& out) {
  SourceControl control;
  if ((query.flags & V4L2_CTRL_FLAG_DISABLED) || query.nr_of_dims > 0 ||
      !known_type(query.type, control.kind))
    return false;
  control.id = query.id, control.wide = query.type == V4L2_CTRL_TYPE_INTEGER64;
  control.label = text_of(query.name, sizeof query.name);
  control.name = control_name(control.label);
  if (control.name.empty()) control.name = fmt::format("control_{:x}", query.id);
  control.value = control.initial = empty_value(control.kind);
  if (control.kind == ControlKind::menu) {
    control.min = query.minimum, control.max = query.maximum;
    read_choices(item, control);
    if (control.choices.empty()) return false;
    control.initial = control_value(control, query.default_value);
  }
  update_control(query, control);
  out = std::move(control);
  return true;
}

ParamValue control_value(const SourceControl& control, int64_t raw) {
  switch (control.kind) {
    case ControlKind::boolean:
      return raw != 0;
    case ControlKind::button:
      return false;
    case ControlKind::integer:
      return raw;
    case ControlKind::bitmask:
      return raw & 0xFFFFFFFF;
    case ControlKind::menu:
      for (size_t i = 0; i < control.numbers.size(); ++i)
        if (control.numbers[i] == raw) return control.choices[i];
      return std::string();
    case ControlKind::text:
      break;
  }
  return std::string();
}

void read_value(V4l2Device& device, SourceControl& control) {
  if (control.write_only || control.kind == ControlKind::button) return;
  std::string text(control.kind == ControlKind::text ? static_cast<size_t>(control.max) + 1 : 0, '\0');
  v4l2_ext_control value = {};
  value.id = control.id;
  if (!text.empty()) value.size = static_cast<uint32_t>(text.size()), value.string = text.data();
  v4l2_ext_controls request = {};
  request.which = V4L2_CTRL_WHICH_CUR_VAL, request.count = 1, request.controls = &value;
  if (!device.query(VIDIOC_G_EXT_CTRLS, request)) return;
  if (!text.empty()) {
    control.value = text_of(text.data(), text.size());
    return;
  }
  control.value = control_value(control, control.wide ? int64_t{value.value64} : int64_t{value.value});
}

bool write_value(V4l2Device& device, const SourceControl& control, const ParamValue& value) {
  std::string text;
  v4l2_ext_control raw = {};
  raw.id = control.id;
  if (control.kind == ControlKind::text) {
    text = std::get<std::string>(value);
    raw.size = static_cast<uint32_t>(text.size()) + 1, raw.string = text.data();
  } else if (control.wide) {
    raw.value64 = std::get<int64_t>(value);
  } else {
    raw.value = static_cast<int32_t>(raw_value(control, value));
  }
  v4l2_ext_controls request = {};
  request.which = V4L2_CTRL_WHICH_CUR_VAL, request.count = 1, request.controls = &raw;
  return device.query(VIDIOC_S_EXT_CTRLS, request);
}

void refresh_limits(V4l2Device& device, SourceControl& control) {
  v4l2_query_ext_ctrl query = {};
  if (query_control(device, control.id, query)) update_control(query, control);
}

void refresh_description(V4l2Device& device, SourceControl& control) {
  v4l2_query_ext_ctrl query = {};
  if (!query_control(device, control.id, query)) return;
  update_control(query, control);
  if (control.kind != ControlKind::menu) return;
  // The entries of a menu may change too.
  SourceControl again;
  if (!describe_control(query, menu_of(device, query), again)) return;
  control.min = again.min, control.max = again.max, control.initial = again.initial;
  control.choices = std::move(again.choices), control.numbers = std::move(again.numbers);
}

std::vector<SourceControl> read_controls(V4l2Device& device) {
  std::vector<SourceControl> controls;
  std::set<std::string> names;
  std::string group;
  v4l2_query_ext_ctrl query = {};
  for (size_t i = 0; i < kMaxControls && next_control(device, query); ++i) {
    if (query.type == V4L2_CTRL_TYPE_CTRL_CLASS) {
      group = text_of(query.name, sizeof query.name);
      continue;
    }
    SourceControl control;
    if (!describe_control(query, menu_of(device, query), control)) continue;
    control.group = group;
    if (!names.insert(control.name).second) names.insert(control.name += fmt::format("_{:x}", control.id));
    read_value(device, control);
    controls.push_back(std::move(control));
  }
  return controls;
}

}  // namespace lensd
