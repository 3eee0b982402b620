// Parses names of sources without opening them. Thread-safe.
#pragma once

#include <optional>
#include <string>

namespace lensd {

enum class UrlKind {
  path,            ///< a file, image or FIFO
  sequence,        ///< pattern of an image sequence, such as img_%04d.png
  standard_input,  ///< "-"
  generated,       ///< test:NAME[=opts]
  network,         ///< rtsp:// rtsps:// http:// https:// udp:// srt:// rtmp:// rtmps://
  camera,          ///< /dev/videoN, /dev/v4l/…, v4l2:PATH
  pipewire,        ///< pipewire: or pipewire:NODE; portal: or portal:camera
  screen,          ///< screen:, screen:+X,Y or screen::0+X,Y
  other,           ///< not supported
};

constexpr bool is_live(UrlKind kind) {
  return kind == UrlKind::network || kind == UrlKind::camera || kind == UrlKind::pipewire ||
         kind == UrlKind::screen;
}

/// Returns the kind of a source's name. An existing file other than a character device is always a `path`.
UrlKind classify(const std::string& url);

/// Returns true for a name with exactly one frame number: %d or, padded with zeros, %0Nd or %Nd. "%%" is a
/// percent sign.
bool is_sequence_pattern(const std::string& path);

/// Returns the scheme in lower case, for example "rtsp" for "RTSP://host/path"; empty if there is no "://".
std::string scheme_of(const std::string& url);
/// Returns the host of a URL without login, port and brackets; empty if there is none.
std::string host_of(const std::string& url);
struct PortProblem {
  std::string what, hint;
};
/// Returns what is wrong with the port of an address: it is no number from 1 to 65535, or it is missing and
/// `required` is true. Returns nullopt if nothing is wrong, or if `url` has no "://". Parses the port like
/// FFmpeg. Ignores the port if the host may contain an unencoded password, because a message would show a
/// part of it.
std::optional<PortProblem> port_problem(const std::string& url, bool required);

/// Returns the device file of a camera: `url` without "v4l2:".
std::string camera_path(const std::string& url);

/// Returns the URL for messages: without secrets (url_secrets.hpp), "standard input" for "-", "desktop
/// portal" for "portal:".
std::string display_url(const std::string& url);

/// Returns a short name for titles: the last part of a path, a generator's name without options
/// ("test:testsrc2"), or display_url() for other kinds.
std::string short_name(const std::string& url);

}  // namespace lensd
