// FFmpeg's options for live sources, and checks before opening. Internal to core/media. Thread-safe.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

/// Sets the options of the demuxer and its protocol: lensd's own, then `live.extra`.
void fill_live_options(ff::Options& options, const std::string& url, UrlKind kind, const LiveOptions& live);

/// The demuxer for `url`; null: FFmpeg probes the content. Throws Error(invalid_config) if there is no
/// demuxer `live.format`.
const AVInputFormat* live_demuxer(const std::string& url, UrlKind kind, const LiveOptions& live);

/// Protocols and demuxers that content from `scheme` may use, as FFmpeg's lists.
std::string allowed_protocols(const std::string& scheme);
std::string allowed_demuxers(const std::string& scheme);

/// Rejects what can never work: an address without a host, a device that is not a camera, no display, an
/// unknown option. Throws Error(bad_source) or Error(invalid_config).
void check_live_source(const std::string& url, const LiveOptions& live);

/// The X11 display and offset of "screen:…". Throws Error(bad_source) if there is none.
std::string screen_display(const std::string& url);

/// True for addresses of this machine and of private networks, and for names that resolve to them.
bool is_internal_host(const std::string& host);

}  // namespace lensd
