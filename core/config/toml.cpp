#include "core/config/toml.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/limits.hpp"

namespace lensd {
namespace {

/// Returns the offset after the string that begins at `at`. If the string is not closed, returns the end of
/// the line, or of the text for a multi-line string.
size_t string_end(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool multiline = text.substr(at, 3) == three;
  for (size_t i = at + (multiline ? 3 : 1); i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (!multiline && (text[i] == quote || text[i] == '\n')) {
      return i + (text[i] == quote ? 1 : 0);
    } else if (multiline && text.substr(i, 3) == three) {
      // Up to two quotes before the closing three belong to the string.
      return std::min({text.find_first_not_of(quote, i), i + 5, text.size()});
    }
  }
  return text.size();
}

/// Returns the first offset at which values or dotted keys nest deeper than kMaxConfigDepth, or nullopt.
std::optional<size_t> too_deep(std::string_view text) {
  size_t brackets = 0, dots = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = string_end(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (c == '.')
      ++dots;
    else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos)
      dots = 0;  // the key has ended
    if (brackets > kMaxConfigDepth || dots >= kMaxConfigDepth) return i;
    ++i;
  }
  return std::nullopt;
}

}  // namespace

toml::parse_result parse_toml(std::string_view text, std::string_view name) {
  const auto deep = too_deep(text);
  if (!deep) return toml::parse(text, name);
  const std::string_view before = text.substr(0, *deep);
  const size_t line = 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
  const size_t column = *deep - (line == 1 ? 0 : before.rfind('\n') + 1) + 1;
  const toml::source_position at{static_cast<toml::source_index>(line),
                                 static_cast<toml::source_index>(column)};
  return toml::parse_result(toml::parse_error("nested deeper than " + std::to_string(kMaxConfigDepth), at));
}

}  // namespace lensd
