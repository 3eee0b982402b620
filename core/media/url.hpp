// What a source's name says before anything is opened.
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
  other,           ///< an address or device that lensd does not read
};

constexpr bool is_live(UrlKind kind) {
  return kind == UrlKind::network || kind == UrlKind::camera || kind == UrlKind::screen;
}

/// A path that exists is a path, whatever it looks like.
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

/// Short name for titles: the last part of a path, "standard input", "test:testsrc2".
std::string short_name(const std::string& url);

}  // namespace lensd
