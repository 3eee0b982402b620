// What FFmpeg is told when a live source is opened. Internal to core/media.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg_check.hpp"
#include "core/media/source.hpp"
#include "core/media/url.hpp"

namespace lensd {

/// The dictionary for the demuxer and the protocol under it: our own entries, then `live.extra`.
void fill_live_options(ff::Options& options, const std::string& url, UrlKind kind, const LiveOptions& live);

/// The demuxer that reads `url` without guessing; null: the content decides. Throws Error(invalid_config)
/// when `live.format` names none.
const AVInputFormat* live_demuxer(const std::string& url, UrlKind kind, const LiveOptions& live);

/// Protocols and demuxers that content from `scheme` may reach, as FFmpeg's lists.
std::string allowed_protocols(const std::string& scheme);
std::string allowed_demuxers(const std::string& scheme);

/// Refuses what would never work, before anything is opened: an address without a host, a device that is no
/// camera, no display, an option that nobody knows. Throws Error(bad_source) or Error(invalid_config).
void check_live_source(const std::string& url, const LiveOptions& live);

/// The X11 display and offset of "screen:…". Throws Error(bad_source) when there is none.
std::string screen_display(const std::string& url);

/// True for addresses of this machine and of private networks, and for names that lead there.
bool is_internal_host(const std::string& host);

}  // namespace lensd
