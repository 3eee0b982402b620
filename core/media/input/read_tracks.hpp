// The tracks of a file: descriptions for display, and the start of the sound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

struct SourceInfo;

/// Returns `text` without control characters, truncated to at most 200 bytes at the boundary of a UTF-8
/// character.
std::string tidy_title(const char* text);

/// Returns a description of each video track such as "1280×720 h264, ger, Camera 2".
std::vector<std::string> describe_video_tracks(const AVFormatContext& context);

/// Returns the number, from 1, of the video track with stream index `index`. Returns 0 if the stream is not a
/// video track.
int video_track_number(const AVFormatContext& context, int index);

/// Returns a message if the source shows something other than video track `wanted`, from 1; otherwise an
/// empty string. Always returns an empty string for an image, and if `wanted` is 0.
std::string other_track_shown(const SourceInfo& source, int wanted);

/// Returns the timestamp of the first sound of all audio tracks; 0 if it is not known. The cover picture of
/// an audio file has no timestamp and is shown from then on.
int64_t first_sound_ns(const AVFormatContext& context);

}  // namespace lensd
