// FFmpeg's options for an HLS playlist and its segments. Internal to core/media. Thread-safe.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Sets the options of the playlist `path`, whose name ends in .m3u8. NAME.m3u8 gets the segments NAME0.ts,
/// NAME1.ts, … in the same folder. Continues an existing playlist, but not one of another program.
void set_hls_options(const std::string& path, ff::Options& options);

}  // namespace lensd
