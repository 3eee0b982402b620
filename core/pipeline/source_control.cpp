#include "core/pipeline/source_control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <utility>

namespace lensd {
std::string control_name(std::string_view label) {
  std::string name;
  bool gap = false;
  for (const char c : label) {
    const auto letter = static_cast<unsigned char>(c);
    if (!std::isalnum(letter) || letter > 127) {
      gap = !name.empty();
      continue;
    }
    if (std::exchange(gap, false)) name += '_';
    name += static_cast<char>(std::tolower(letter));
  }
  return name;
}

std::string allowed_values(const SourceControl& control) {
  switch (control.kind) {
    case ControlKind::integer:
      return fmt::format("a whole number {} to {}{}", control.min, control.max,
                         control.step > 1 ? fmt::format(" in steps of {}", control.step) : "");
    case ControlKind::boolean:
      return "true or false";
    case ControlKind::menu:
      return fmt::format("one of {}", fmt::join(control.choices, ", "));
    case ControlKind::button:
      return "true, which presses the button";
    case ControlKind::bitmask:
      return fmt::format("bits of {:#x}", control.max);
    case ControlKind::text:
      return fmt::format("text of {} to {} bytes", control.min, control.max);
  }
  return {};
}

std::string control_text(const SourceControl& control, const ParamValue& value) {
  const auto* bits = std::get_if<int64_t>(&value);
  return control.kind == ControlKind::bitmask && bits ? fmt::format("{:#x}", *bits) : to_string(value);
}

}  // namespace lensd
