// String functions that several folders share. Thread-safe.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lensd {

/// Converts ASCII letters to lower case, for case-insensitive names such as URL schemes and file extensions.
/// Unlike std::tolower() it ignores the locale.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Converts ASCII letters to upper case.
inline std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

/// Splits `text` at each of the characters in `separators`. Returns the non-empty parts.
inline std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

/// Returns `text` without surrounding spaces, tabs and line breaks.
inline std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\n";
  const size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

/// Returns `text` with "%%" for each percent sign, for patterns that expand conversions.
inline std::string escape_percent(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '%' ? 2 : 1, c);
  return out;
}

/// Returns `text` as a field of a CSV file (RFC 4180): in quotes if it has a comma, a quote or a line break.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// Returns true if `text` has an ASCII control character, such as a line break.
inline bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Returns the longest start of `text` that has at most `most` bytes and does not split a UTF-8 character.
inline std::string_view first_bytes(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

/// Returns `text` with a space instead of each control character.
inline std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
  return text;
}

/// Returns `text` if it has at most `most` bytes. Otherwise returns first_bytes() and an ellipsis.
inline std::string shortened(std::string_view text, size_t most) {
  return text.size() <= most ? std::string(text) : std::string(first_bytes(text, most)) + "…";
}

}  // namespace lensd
