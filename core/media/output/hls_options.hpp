// FFmpeg's options for an HLS playlist and its segments (core/media/hls_playlist.hpp). Internal to
// core/media. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

inline constexpr size_t kListedSegments = 6;  ///< the newest segments, which a playlist lists

/// Locks a playlist against other outputs, also of other processes, with the file .NAME.m3u8.lock beside it,
/// which stays. Returns the file, whose end is the lock's end, or an empty UniqueFd if another output has the
/// lock. Returns an unlocked file if the file system has no locks.
UniqueFd lock_playlist(const std::string& playlist);

/// Sets the options of a playlist. Continues an existing one if continues_playlist() is true.
void set_hls_options(const std::string& playlist, ff::Options& options);

}  // namespace lensd
