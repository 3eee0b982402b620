#include "app/kept_controls.hpp"

#include <fmt/format.h>

#include "core/base/text/utf8.hpp"
#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxControls = 256;

ControlValues control_values(const toml::table& table) {
  ControlValues values;
  for (const auto& [key, value] : table) {
    if (values.size() >= kMaxControls) break;
    const std::string name(key.str());
    if (const auto on = value.value_exact<bool>()) values.emplace_back(name, *on);
    if (const auto whole = value.value_exact<int64_t>()) values.emplace_back(name, *whole);
    if (const auto text = value.value_exact<std::string>()) values.emplace_back(name, *text);
  }
  return values;
}

}  // namespace

void remember_controls(KeptControls& kept, const std::string& camera, const ControlValues& values) {
  if (values.empty())
    kept.erase(camera);
  else if (kept.contains(camera) || kept.size() < kMaxCameras)
    kept[camera] = values;
}

KeptControls parse_kept_controls(const toml::table& root) {
  KeptControls kept;
  if (const toml::table* cameras = root["controls"].as_table())
    for (const auto& [camera, values] : *cameras)
      if (const toml::table* table = values.as_table())
        remember_controls(kept, std::string(camera.str()), control_values(*table));
  return kept;
}

std::string to_toml(const KeptControls& kept) {
  std::string text;
  for (const auto& [camera, values] : kept) {
    if (!is_utf8(camera)) continue;  // as_utf8() could return another camera's name
    text += fmt::format("\n[controls.{}]\n", toml_quoted(camera));
    for (const auto& [name, value] : values)
      if (is_utf8(name)) text += fmt::format("{} = {}\n", toml_quoted(name), toml_value(value));
  }
  return text;
}

}  // namespace lensd
