// The files of an HLS output: a playlist NAME.m3u8 and its segments NAME-0.ts, NAME-1.ts, … in the same
// folder. Thread-safe.
#pragma once

#include <string>

namespace lensd {

/// Returns true if `path`, which must not be an address, names a playlist.
bool is_playlist(const std::string& path);

/// Throws Error(usage) if the playlist's path has a number pattern such as %d or %03d, which FFmpeg would
/// replace in the names of the segments.
void check_playlist_path(const std::string& playlist);

/// Returns the prefix of the paths of the playlist's segments. A number and kSegmentEnding follow.
std::string segment_begin(const std::string& playlist);
inline constexpr const char* kSegmentEnding = ".ts";

/// Returns true if the playlist exists and a StreamOutput would continue it: it lists only segments with the
/// names above, and at least one. Other playlists are replaced.
bool continues_playlist(const std::string& playlist);

}  // namespace lensd
