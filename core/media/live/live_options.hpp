// FFmpeg's options for live sources, and checks before opening. Internal to core/media. Thread-safe.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

/// Statuses of HTTP servers that are busy (408, 429) or have failed, as a value for FFmpeg's
/// reconnect_on_http_error.
inline constexpr const char* kTemporaryHttpErrors = "408,429,5xx";

/// Sets lensd's own options of the demuxer and its protocol, not `live.extra`.
void fill_live_options(ff::Options& options, const std::string& url, UrlKind kind, const LiveOptions& live);

/// Returns the demuxer for `url`, or null if FFmpeg must probe the content. Throws Error(invalid_config) if
/// there is no demuxer `live.format`, Error(unavailable) if FFmpeg has no demuxer for the screen.
const AVInputFormat* live_demuxer(const std::string& url, UrlKind kind, const LiveOptions& live);

/// Returns the protocols that content from `scheme` may use, as a value for FFmpeg's protocol_whitelist.
std::string allowed_protocols(const std::string& scheme);
/// Returns the demuxers that may read content from `scheme`, as a value for FFmpeg's format_whitelist.
std::string allowed_demuxers(const std::string& scheme);

/// Checks for permanent errors. Throws Error(bad_source) if an address has no host, a device is not a camera
/// or there is no display; Error(invalid_config) if an option is unknown or does not fit; Error(unavailable)
/// if FFmpeg lacks the protocol or device.
void check_live_source(const std::string& url, const LiveOptions& live);

/// Returns the X11 display and offset of "screen:…". Throws Error(bad_source) if there is no display.
std::string screen_display(const std::string& url);
/// The corner of the recorded area in "DISPLAY+X,Y"; 0, 0 without an offset.
struct ScreenOffset {
  std::string display;  ///< without the offset
  int x = 0, y = 0;
};
ScreenOffset screen_offset(const std::string& display);

/// Returns true if a name or address cannot be resolved, or resolves to an address for which
/// is_internal_address() is true. May block while it resolves a name.
bool is_internal_host(const std::string& host);

}  // namespace lensd
