#include "core/base/text/source_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "core/base/folders.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

std::string home() {
  std::string folder = folder_in("HOME");
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

/// Decodes the percent encoding of a file:// address.
std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char* digits = text.data() + i + 1;
    int code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2 && code > 0)
      out += static_cast<char>(code), i += 2;
    else
      out += text[i];
  }
  return out;
}

std::string with_home(const std::string& path) {
  const std::string folder = home();
  const bool tilde = path == "~" || path.starts_with("~/");
  return tilde && !folder.empty() ? folder + path.substr(1) : path;
}

}  // namespace

std::string without_file_scheme(const std::string& text) {
  constexpr std::string_view scheme = "file://", short_form = "file:/";  // RFC 8089, appendix B
  if (lower_case(text.substr(0, short_form.size())) == short_form &&
      !text.substr(short_form.size()).starts_with('/'))
    return decoded(std::string_view(text).substr(short_form.size() - 1));
  if (lower_case(text.substr(0, scheme.size())) != scheme) return text;
  const size_t slash = text.find('/', scheme.size());
  if (slash == std::string::npos) return text;
  const std::string host = lower_case(text.substr(scheme.size(), slash - scheme.size()));
  const bool here = host.empty() || host == "localhost";
  return here ? decoded(std::string_view(text).substr(slash)) : text;
}

std::string file_address(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF", plain = "/-._~";
  std::string text = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos)
      text += c;
    else
      text += '%', text += digits[byte >> 4], text += digits[byte & 15];
  }
  return text;
}

std::string tidy_source(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return {};
  std::string tidy = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  tidy.erase(tidy.find_last_not_of(kSpaces) + 1);
  const char first = tidy.front();
  if (tidy.size() > 2 && (first == '"' || first == '\'') && tidy.back() == first)
    tidy = tidy.substr(1, tidy.size() - 2);
  return with_home(without_file_scheme(tidy));
}

std::string absolute_path(const std::string& source) {
  std::error_code error;
  if (source.empty() || !may_be_path(source)) return {};
  return std::filesystem::absolute(source, error).lexically_normal().string();
}

bool may_be_path(const std::string& text) {
  if (text == "-" || text.find("://") != std::string::npos) return false;
  constexpr std::array<std::string_view, 7> kinds = {
      "test:", "screen:", "pipewire:", "portal:", "v4l2:", "/dev/video", "/dev/v4l/"};
  for (const std::string_view kind : kinds)
    if (text.starts_with(kind)) return false;
  return true;
}

std::optional<TypedPath> typed_path(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return TypedPath{};
  std::string path = text.substr(begin);
  // The closing quote may not be typed yet.
  const char first = path.front();
  if (first == '"' || first == '\'') {
    path.erase(0, 1);
    if (!path.empty() && path.back() == first) path.pop_back();
  }
  path = with_home(without_file_scheme(path));
  if (!may_be_path(path)) return std::nullopt;
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return TypedPath{"", path};
  return TypedPath{path.substr(0, slash + 1), path.substr(slash + 1)};
}

std::string shown_path(const std::string& path) {
  const std::string folder = home();
  if (folder.size() < 2 || !path.starts_with(folder)) return path;
  const bool whole = path.size() == folder.size() || path[folder.size()] == '/';
  return whole ? std::string("~").append(path, folder.size()) : path;
}

std::string brief_source(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string::npos) {
    std::string rest = url_without_secrets(url).substr(scheme + 3);
    rest.erase(std::min(rest.find_first_of("?#"), rest.size()));
    if (const size_t login = rest.find('@'); login != std::string::npos) rest.erase(0, login + 1);
    return url.substr(0, scheme + 3) + rest;
  }
  if (url.starts_with("test:")) return url.substr(0, url.find('='));
  const size_t slash = url.find_last_not_of('/') == std::string::npos
                           ? std::string::npos
                           : url.rfind('/', url.find_last_not_of('/'));
  return slash == std::string::npos ? url : url.substr(slash + 1);
}

}  // namespace lensd
