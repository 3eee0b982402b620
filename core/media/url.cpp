#include "core/media/url.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "core/base/contains.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd {
namespace {

constexpr std::array<std::string_view, 8> kSchemes = {"rtsp", "rtsps", "http", "https",
                                                      "udp",  "srt",   "rtmp", "rtmps"};

bool is_camera_name(const std::string& path) {
  return path.starts_with("v4l2:") || path.starts_with("/dev/video") || path.starts_with("/dev/v4l/");
}

}  // namespace

UrlKind classify(const std::string& url) {
  if (url == "-") return UrlKind::standard_input;
  struct stat status = {};
  if (stat(url.c_str(), &status) == 0 && !S_ISCHR(status.st_mode)) return UrlKind::path;
  if (is_camera_name(url)) return UrlKind::camera;
  if (S_ISCHR(status.st_mode)) return UrlKind::other;
  if (url.starts_with("test:")) return UrlKind::generated;
  if (url.starts_with("screen:")) return UrlKind::screen;
  if (url.starts_with("pipewire:") || url.starts_with("portal:")) return UrlKind::pipewire;
  if (url.find("://") != std::string::npos) {
    const bool known = contains(kSchemes, scheme_of(url));
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
  if (authority.starts_with("[")) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

std::optional<PortProblem> port_problem(const std::string& url, bool required) {
  size_t begin = url.find("://");
  if (begin == std::string::npos) return std::nullopt;
  begin += 3;
  const size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  if (url.find('@', end) != std::string::npos) return std::nullopt;
  std::string host = url.substr(begin, end - begin);
  host.erase(0, host.rfind('@') + 1);  // the login
  const size_t address_end = host.starts_with('[') ? host.find(']') : 0;
  const size_t colon = host.find(':', address_end == std::string::npos ? 0 : address_end);
  if (colon == std::string::npos) {
    if (!required) return std::nullopt;
    return PortProblem{"the address has no port", "add one, such as :5000 after the host"};
  }
  const std::string port = host.substr(colon + 1);
  if (port.empty()) return PortProblem{"the port is empty", "add one after the colon, 1 to 65535"};
  int number = 0;
  const char* const last = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), last, number);
  if (error == std::errc() && stop == last && number >= 1 && number <= 65535) return std::nullopt;
  return PortProblem{"'" + port + "' is not a port", "ports are 1 to 65535"};
}

std::string camera_path(const std::string& url) {
  constexpr std::string_view prefix = "v4l2:";
  return url.starts_with(prefix) ? url.substr(prefix.size()) : url;
}

bool is_sequence_pattern(const std::string& path) {
  int numbers = 0;
  for (size_t i = 0; (i = path.find('%', i)) != std::string::npos; ++i) {
    if (path.compare(i, 2, "%%") == 0) {
      ++i;
      continue;
    }
    const size_t end = path.find_first_not_of("0123456789", i + 1);
    if (end == std::string::npos || path[end] != 'd' || end - i > 3) return false;
    ++numbers;
    i = end;
  }
  return numbers == 1;
}

std::string display_url(const std::string& url) {
  if (url == "-") return "standard input";
  return url == "portal:" ? "desktop portal" : url_without_secrets(url);
}

std::string short_name(const std::string& url) {
  const UrlKind kind = classify(url);
  if (kind == UrlKind::generated) return url.substr(0, url.find('='));
  if (kind == UrlKind::camera) return std::filesystem::path(camera_path(url)).filename().string();
  if (kind == UrlKind::path || kind == UrlKind::sequence)
    return std::filesystem::path(url).filename().string();
  return display_url(url);
}

}  // namespace lensd
