#include "core/media/url.hpp"

#include <sys/stat.h>

#include <cctype>
#include <filesystem>
#include <string_view>

namespace lensd {
namespace {

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

bool ends_url(char c) {
  return std::isspace(static_cast<unsigned char>(c)) || c == '\'' || c == '"';
}

}  // namespace

UrlKind classify(const std::string& url) {
  if (url == "-") return UrlKind::standard_input;
  struct stat status;
  if (stat(url.c_str(), &status) == 0) return S_ISCHR(status.st_mode) ? UrlKind::other : UrlKind::path;
  if (starts_with(url, "test:")) return UrlKind::generated;
  if (starts_with(url, "screen:") || starts_with(url, "v4l2:") || starts_with(url, "/dev/video") ||
      url.find("://") != std::string::npos)
    return UrlKind::other;
  return is_sequence_pattern(url) ? UrlKind::sequence : UrlKind::path;
}

bool is_sequence_pattern(const std::string& path) {
  int numbers = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') continue;
    size_t k = i + 1;
    if (k < path.size() && path[k] == '%') {
      i = k;
      continue;
    }
    while (k < path.size() && std::isdigit(static_cast<unsigned char>(path[k]))) ++k;
    if (k >= path.size() || path[k] != 'd' || k - i > 3) return false;
    ++numbers;
    i = k;
  }
  return numbers == 1;
}

std::string without_secrets(const std::string& text) {
  std::string out;
  size_t at = 0;
  for (;;) {
    const size_t scheme = text.find("://", at);
    if (scheme == std::string::npos) break;
    const size_t begin = scheme + 3;
    size_t end = begin;
    while (end < text.size() && !ends_url(text[end])) ++end;
    out.append(text, at, begin - at);
    std::string rest = text.substr(begin, end - begin);
    const size_t host_end = rest.find_first_of("/?#");
    // The password may itself contain an '@': the last one before the path ends it.
    const size_t login = rest.rfind('@', host_end);
    if (login != std::string::npos) rest = "…" + rest.substr(login);
    const size_t query = rest.find('?');
    if (query != std::string::npos) rest = rest.substr(0, query) + "?…";
    out += rest;
    at = end;
  }
  return out.append(text, at, std::string::npos);
}

std::string short_name(const std::string& url) {
  switch (classify(url)) {
    case UrlKind::standard_input:
      return "standard input";
    case UrlKind::generated:
      return url.substr(0, url.find('='));
    case UrlKind::other:
      return without_secrets(url);
    case UrlKind::path:
    case UrlKind::sequence:
      break;
  }
  return std::filesystem::path(url).filename().string();
}

}  // namespace lensd
