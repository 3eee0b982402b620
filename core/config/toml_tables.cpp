#include "core/config/toml_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return bare ? std::string(key) : toml_quoted(std::string(key));
}

/// Returns a value of a parsed file, on one line.
std::string toml_inline(const toml::node& value) {
  if (const auto* text = value.as_string()) return toml_quoted(text->get());
  std::vector<std::string> parts;
  if (const toml::array* list = value.as_array()) {
    for (const toml::node& item : *list) parts.push_back(toml_inline(item));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (const toml::table* table = value.as_table()) {
    for (const auto& [key, item] : *table)
      parts.push_back(fmt::format("{} = {}", toml_key(key.str()), toml_inline(item)));
    return fmt::format("{{ {} }}", fmt::join(parts, ", "));
  }
  std::ostringstream out;
  value.visit([&out](const auto& scalar) { out << scalar; });
  return out.str();
}

void add_key(std::string& text, std::string_view key, const toml::node& value) {
  text += fmt::format("{} = {}\n", toml_key(key), toml_inline(value));
}

/// Adds a table and the tables in it. `name`: the text of its header.
void add_table(std::string& text, const std::string& name, const toml::table& table) {
  if (!text.empty()) text += '\n';
  text += fmt::format("[{}]\n", name);
  for (const auto& [key, value] : table)
    if (!value.is_table()) add_key(text, key.str(), value);
  for (const auto& [key, value] : table)
    if (const toml::table* const inner = value.as_table())
      add_table(text, fmt::format("{}.{}", name, toml_key(key.str())), *inner);
}

}  // namespace

std::string toml_tables(const toml::table& root) {
  std::string text;
  for (const auto& [key, value] : root)
    if (!value.is_table()) add_key(text, key.str(), value);
  for (const auto& [key, value] : root)
    if (const toml::table* const table = value.as_table()) add_table(text, toml_key(key.str()), *table);
  return text;
}

}  // namespace lensd
