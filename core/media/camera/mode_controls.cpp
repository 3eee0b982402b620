#include "core/media/camera/mode_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/base/contains.hpp"

namespace lensd {
namespace {

constexpr const char* kAuto = "auto";
/// The names of the controls, in the order in which set() resets them to "auto".
constexpr std::array<std::string_view, 3> kNames = {"rate", "format", "size"};

std::string size_text(Extent size) {
  return fmt::format("{}x{}", size.width, size.height);
}

std::string rate_text(double rate) {
  return fmt::format("{:.4g}", rate);
}

Extent size_of(const std::string& text) {
  Extent size;
  const char* end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  if (width.ec != std::errc() || width.ptr == end) return {};
  std::from_chars(width.ptr + 1, end, size.height);
  return size;
}

double rate_of(const std::string& text) {
  double rate = 0;
  std::from_chars(text.data(), text.data() + text.size(), rate);
  return rate;
}

void add(std::vector<std::string>& choices, const std::string& text) {
  if (!contains(choices, text)) choices.push_back(text);
}

using Aliases = std::vector<std::pair<std::string, std::string>>;

/// Returns FFmpeg's names of the formats, as `lensd doctor` prints them, each with the code of the first such
/// format.
Aliases format_aliases(const std::vector<CameraFormat>& formats) {
  Aliases aliases;
  for (const CameraFormat& format : formats)
    if (!format.format.empty() && !contains(aliases, format.format, &Aliases::value_type::first))
      aliases.emplace_back(format.format, format.fourcc);
  return aliases;
}

std::vector<std::string> format_choices(const std::vector<CameraFormat>& formats) {
  std::vector<std::string> choices;
  for (const CameraFormat& format : formats)
    if (!format.format.empty()) add(choices, format.fourcc);
  return choices;
}

/// Returns the sizes of all formats that lensd can read, as text, largest first.
std::vector<std::string> size_choices(const std::vector<CameraFormat>& formats) {
  std::vector<Extent> sizes;
  for (const CameraFormat& format : formats)
    for (const CameraMode& mode : format.modes)
      if (!format.format.empty()) sizes.push_back(mode.size);
  std::ranges::stable_sort(sizes, std::greater<>(), area);
  std::vector<std::string> choices;
  for (const Extent size : sizes) add(choices, size_text(size));
  return choices;
}

/// Returns the rates of all formats that lensd can read, as text, highest first.
std::vector<std::string> rate_choices(const std::vector<CameraFormat>& formats) {
  std::vector<double> rates;
  for (const CameraFormat& format : formats)
    for (const CameraMode& mode : format.modes)
      if (!format.format.empty()) rates.insert(rates.end(), mode.rates.begin(), mode.rates.end());
  std::ranges::sort(rates, std::greater<>());
  std::vector<std::string> choices;
  for (const double rate : rates) add(choices, rate_text(rate));
  return choices;
}

/// Appends a control if there are at least two choices. `configured`: its default, a choice or an alias;
/// empty: "auto".
void append(std::vector<SourceControl>& list, const char* name, const char* label,
            std::vector<std::string> choices, std::string configured, Aliases aliases = {}) {
  if (choices.size() < 2) return;
  for (const auto& [alias, choice] : aliases)
    if (alias == configured) configured = choice;
  if (!configured.empty()) add(choices, configured);
  choices.insert(choices.begin(), kAuto);
  SourceControl control;
  control.name = name, control.label = label, control.group = "Mode";
  control.kind = ControlKind::menu;
  control.choices = std::move(choices), control.aliases = std::move(aliases);
  control.value = control.initial = configured.empty() ? std::string(kAuto) : configured;
  list.push_back(std::move(control));
}

}  // namespace

ModeControls::ModeControls(std::vector<CameraFormat> formats, const RequestedMode& configured)
    : formats_(std::move(formats)), configured_(configured) {
  const bool any_size = configured.size.width <= 0;
  append(list_, "format", "Format", format_choices(formats_), configured.format, format_aliases(formats_));
  append(list_, "size", "Size", size_choices(formats_), any_size ? "" : size_text(configured.size));
  append(list_, "rate", "Rate", rate_choices(formats_),
         configured.rate > 0 ? rate_text(configured.rate) : "");
}

bool ModeControls::has(std::string_view name) noexcept {
  return contains(kNames, name);
}

SourceControl* ModeControls::find(std::string_view name) noexcept {
  const auto found = std::ranges::find(list_, name, &SourceControl::name);
  return found == list_.end() ? nullptr : &*found;
}

void ModeControls::adopt(const ControlValues& values) {
  for (const auto& [name, value] : values) {
    SourceControl* control = has(name) ? find(name) : nullptr;
    if (!control) continue;
    if (CheckedControl checked = check_control(*control, value); checked.problem.empty())
      control->value = std::move(checked.value);
  }
}

std::vector<std::string> ModeControls::set(const std::string& name, const ParamValue& value) {
  std::vector<std::string> released;
  SourceControl* control = find(name);
  if (!control) return released;
  control->value = value;
  for (const std::string_view other : kNames) {
    if (offers_mode(formats_, request())) break;
    SourceControl* conflict = other == name ? nullptr : find(other);
    if (!conflict || conflict->value == ParamValue(std::string(kAuto))) continue;
    conflict->value = std::string(kAuto);
    released.emplace_back(other);
  }
  return released;
}

ControlValues ModeControls::chosen() const {
  ControlValues values;
  for (const SourceControl& control : list_)
    if (control.value != control.initial) values.emplace_back(control.name, control.value);
  return values;
}

/// Returns the control's value; empty if it is "auto" or there is no such control.
std::string ModeControls::text(std::string_view name) const {
  for (const SourceControl& control : list_)
    if (control.name == name && control.value != ParamValue(std::string(kAuto)))
      return to_string(control.value);
  return {};
}

RequestedMode ModeControls::request() const {
  const auto listed = [this](std::string_view name) { return contains(list_, name, &SourceControl::name); };
  RequestedMode request = configured_;
  if (listed("format")) request.format = text("format");
  if (listed("size")) request.size = size_of(text("size"));
  // Keep the configured rate's exact value, which the text may round.
  if (listed("rate") && text("rate") != rate_text(configured_.rate)) request.rate = rate_of(text("rate"));
  return request;
}

}  // namespace lensd
