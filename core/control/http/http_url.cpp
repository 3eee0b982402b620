#include "core/control/http/http_url.hpp"

#include <algorithm>
#include <optional>

namespace lensd {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Decodes %XX, and in a query also "+". Returns nullopt if a "%" is not followed by two hexadecimal digits.
std::optional<std::string> decode(std::string_view text, bool query) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && query) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

}  // namespace

bool parse_target(std::string_view target, HttpRequest& request) {
  if (target.empty() || target.front() != '/') return false;
  const size_t question = std::min(target.find('?'), target.size());
  const auto path = decode(target.substr(0, question), false);
  if (!path) return false;
  request.path = *path;
  std::string_view query = target.substr(std::min(question + 1, target.size()));
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decode(pair.substr(0, equals), true);
    const auto value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return false;
    if (!pair.empty()) request.query.emplace(*name, *value);
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
  return true;
}

}  // namespace lensd
