#include "core/pipeline/source_control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/contains.hpp"
#include "core/base/text/suggest.hpp"

namespace lensd {
namespace {

/// Parses a decimal number, or a hexadecimal one such as 0x2f.
std::optional<int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const std::string_view magnitude = digits.substr(hexadecimal ? 2 : 0);
  if (magnitude.starts_with('-')) return std::nullopt;  // from_chars() would accept a second sign
  const std::string number = (negative ? "-" : "") + std::string(magnitude);
  int64_t value = 0;
  const char* end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::optional<int64_t> integer_of(const ParamValue& value) {
  constexpr double kLargest = 9007199254740992;  // 2^53: larger doubles skip integers
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  if (const auto* text = std::get_if<std::string>(&value)) return parse_integer(*text);
  const auto* real = std::get_if<double>(&value);
  if (!real || std::abs(*real) > kLargest || *real != std::floor(*real)) return std::nullopt;
  return static_cast<int64_t>(*real);
}

std::optional<bool> boolean_of(const ParamValue& value) {
  if (const auto* on = std::get_if<bool>(&value)) return *on;
  const std::string word = to_string(value);
  if (word == "true" || word == "1" || word == "on" || word == "yes") return true;
  if (word == "false" || word == "0" || word == "off" || word == "no") return false;
  return std::nullopt;
}

/// Compares `value` with the entries' texts before the driver's numbers, because the texts of an integer menu
/// are numbers too.
std::optional<std::string> choice_of(const SourceControl& control, const ParamValue& value) {
  if (std::holds_alternative<bool>(value)) return std::nullopt;
  const std::string text = to_string(value);
  if (contains(control.choices, text)) return text;
  for (const auto& [alias, choice] : control.aliases)
    if (alias == text) return choice;
  const auto number = integer_of(value);
  for (size_t i = 0; number && i < control.numbers.size(); ++i)
    if (control.numbers[i] == *number) return control.choices[i];
  return std::nullopt;
}

/// Returns an entry of a menu with its aliases, for example "MJPG (mjpeg)".
std::string with_aliases(const SourceControl& control, const std::string& choice) {
  std::vector<std::string> names;
  for (const auto& [alias, meant] : control.aliases)
    if (meant == choice) names.push_back(alias);
  return names.empty() ? choice : fmt::format("{} ({})", choice, fmt::join(names, ", "));
}

/// Uses unsigned arithmetic, because the range of a 64-bit control may exceed INT64_MAX.
bool on_step(const SourceControl& control, int64_t value) {
  const uint64_t above = static_cast<uint64_t>(value) - static_cast<uint64_t>(control.min);
  return above % static_cast<uint64_t>(std::max<int64_t>(1, control.step)) == 0;
}

bool in_range(const SourceControl& control, int64_t value) {
  return value >= control.min && value <= control.max && on_step(control, value);
}

std::optional<ParamValue> converted(const SourceControl& control, const ParamValue& value) {
  switch (control.kind) {
    case ControlKind::integer: {
      const auto whole = integer_of(value);
      return whole && in_range(control, *whole) ? std::optional<ParamValue>(*whole) : std::nullopt;
    }
    case ControlKind::bitmask: {
      const auto bits = integer_of(value);
      return bits && (*bits & ~control.max) == 0 ? std::optional<ParamValue>(*bits) : std::nullopt;
    }
    case ControlKind::boolean: {
      const auto on = boolean_of(value);
      return on ? std::optional<ParamValue>(*on) : std::nullopt;
    }
    case ControlKind::button:
      return boolean_of(value) == true ? std::optional<ParamValue>(true) : std::nullopt;
    case ControlKind::menu: {
      auto choice = choice_of(control, value);
      return choice ? std::optional<ParamValue>(std::move(*choice)) : std::nullopt;
    }
    case ControlKind::text: {
      const bool plain = std::holds_alternative<std::string>(value) || std::holds_alternative<int64_t>(value);
      const std::string text = to_string(value);
      const bool fits = plain && text.find('\0') == std::string::npos &&
                        in_range(control, static_cast<int64_t>(text.size()));
      return fits ? std::optional<ParamValue>(text) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

const SourceControl* SourceControls::find(std::string_view name) const noexcept {
  for (const SourceControl& control : list)
    if (control.name == name) return &control;
  return nullptr;
}

CheckedControl check_control(const SourceControl& control, const ParamValue& value) {
  if (control.locked)
    return {.value = {}, .problem = fmt::format("{} cannot be set while the camera streams", control.name)};
  if (control.read_only)
    return {.value = {}, .problem = fmt::format("{} cannot be set: it is read-only", control.name)};
  if (auto allowed = converted(control, value)) return {.value = std::move(*allowed), .problem = {}};
  const bool quoted = std::holds_alternative<std::string>(value);
  return {.value = {},
          .problem = fmt::format("{0} = {1}{2}{1} is not allowed, expected {3}", control.name,
                                 quoted ? "'" : "", to_string(value), allowed_values(control))};
}

std::string unknown_control(const SourceControls& controls, std::string_view name) {
  std::vector<std::string> known;
  for (const SourceControl& control : controls.list) known.push_back(control.name);
  const std::string suggestion = did_you_mean(name, known);
  return fmt::format("the camera has no control '{}'{}", name,
                     suggestion.empty() ? "" : " (" + suggestion + ")");
}

void set_value(ControlValues& values, const std::string& name, ParamValue value) {
  for (auto& [known, old] : values)
    if (known == name) {
      old = std::move(value);
      return;
    }
  values.emplace_back(name, std::move(value));
}

ControlValues values_to_save(const SourceControls& controls) {
  ControlValues values;
  for (const SourceControl& control : controls.list) {
    const auto wanted =
        std::ranges::find(controls.wanted, control.name, &std::pair<std::string, ParamValue>::first);
    if (wanted != controls.wanted.end())
      values.push_back(*wanted);
    else if (!is_action(control) && control.kind != ControlKind::text && !control.read_only &&
             !control.locked && !control.write_only && !control.inactive && !control.self_changing &&
             control.value != control.initial)
      values.emplace_back(control.name, control.value);
  }
  return values;
}

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
  std::vector<std::string> choices;
  switch (control.kind) {
    case ControlKind::integer:
      return fmt::format("a whole number {} to {}{}", control.min, control.max,
                         control.step > 1 ? fmt::format(" in steps of {}", control.step) : "");
    case ControlKind::boolean:
      return "true or false";
    case ControlKind::menu:
      for (const std::string& choice : control.choices) choices.push_back(with_aliases(control, choice));
      return fmt::format("one of {}", fmt::join(choices, ", "));
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
