// FFmpeg's options for an HLS playlist and its segments (core/media/hls_playlist.hpp). Internal to
// core/media. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

inline constexpr size_t kListedSegments = 6;  ///< number of segments in a playlist, the newest ones

/// Sets the options of a playlist. Continues an existing one if continues_playlist() is true.
void set_hls_options(const std::string& playlist, ff::Options& options);

}  // namespace lensd
