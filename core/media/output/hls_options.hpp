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
/// which stays. Deletes the playlist's temporary file. Closing `lock` releases the lock. Returns 0, also if
/// the file system has no locks, or an AVERROR: EBUSY if another output has the lock.
int lock_playlist(const std::string& playlist, UniqueFd& lock);

/// Sets the options of a playlist. Continues an existing one if continues_playlist() is true.
void set_hls_options(const std::string& playlist, ff::Options& options);

}  // namespace lensd
