// Parts of a source's name, without opening it. Thread-safe.
#pragma once

#include <string>

namespace lensd {

enum class UrlKind {
  path,            ///< a file, image or FIFO
  sequence,        ///< img_%04d.png
  standard_input,  ///< -
  generated,       ///< test:NAME[=opts]
  network,         ///< rtsp:// http:// https:// udp:// srt:// rtmp://
  camera,          ///< /dev/videoN, v4l2:PATH
  screen,          ///< screen: or screen::0+X,Y
  other,           ///< not supported
};

constexpr bool is_live(UrlKind kind) {
  return kind == UrlKind::network || kind == UrlKind::camera || kind == UrlKind::screen;
}

/// An existing file is always a `path`.
UrlKind classify(const std::string& url);

/// True for a name with exactly one %d or %0Nd; "%%" stands for a percent sign.
bool is_sequence_pattern(const std::string& path);

/// "rtsp" of "RTSP://host/path"; empty when there is no "://".
std::string scheme_of(const std::string& url);
/// Host of a URL without login, port and brackets; empty when there is none.
std::string host_of(const std::string& url);
/// The device file of a camera's name.
std::string camera_path(const std::string& url);

/// The text with user names, passwords and queries of the URLs in it replaced by "…".
std::string without_secrets(const std::string& text);
/// The URL for messages: without secrets, "standard input" for "-".
std::string display_url(const std::string& url);

/// Short name for titles: the last part of a path, "standard input", "test:testsrc2".
std::string short_name(const std::string& url);

}  // namespace lensd
