#include "core/media/url.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "core/base/text.hpp"

namespace lensd {
namespace {

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

constexpr std::array<std::string_view, 8> kSchemes = {"rtsp", "rtsps", "http", "https",
                                                      "udp",  "srt",   "rtmp", "rtmps"};

bool is_camera_name(const std::string& path) {
  return starts_with(path, "v4l2:") || starts_with(path, "/dev/video") || starts_with(path, "/dev/v4l/");
}

bool ends_url(char c) {
  return std::isspace(static_cast<unsigned char>(c)) || c == '\'' || c == '"';
}

}  // namespace

UrlKind classify(const std::string& url) {
  if (url == "-") return UrlKind::standard_input;
  struct stat status = {};
  if (stat(url.c_str(), &status) == 0 && !S_ISCHR(status.st_mode)) return UrlKind::path;
  if (is_camera_name(url)) return UrlKind::camera;
  if (S_ISCHR(status.st_mode)) return UrlKind::other;
  if (starts_with(url, "test:")) return UrlKind::generated;
  if (starts_with(url, "screen:")) return UrlKind::screen;
  if (url.find("://") != std::string::npos) {
    const std::string scheme = scheme_of(url);
    const bool known = std::find(kSchemes.begin(), kSchemes.end(), scheme) != kSchemes.end();
    return known ? UrlKind::network : UrlKind::other;
  }
  return is_sequence_pattern(url) ? UrlKind::sequence : UrlKind::path;
}

std::string scheme_of(const std::string& url) {
  const size_t end = url.find("://");
  if (end == std::string::npos) return {};
  return lower_case(url.substr(0, end));
}

std::string host_of(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return {};
  std::string authority = url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - scheme - 3);
  if (const size_t login = authority.rfind('@'); login != std::string::npos)
    authority = authority.substr(login + 1);
  if (starts_with(authority, "[")) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

std::string camera_path(const std::string& url) {
  constexpr std::string_view prefix = "v4l2:";
  return starts_with(url, prefix) ? url.substr(prefix.size()) : url;
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
    case UrlKind::camera:
      return std::filesystem::path(camera_path(url)).filename().string();
    case UrlKind::network:
    case UrlKind::screen:
    case UrlKind::other:
      return without_secrets(url);
    case UrlKind::path:
    case UrlKind::sequence:
      break;
  }
  return std::filesystem::path(url).filename().string();
}

}  // namespace lensd
