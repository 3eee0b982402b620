// The video tracks of a file, for display.
#pragma once

#include <string>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Returns `text` without control characters, truncated to at most 200 bytes at the boundary of a UTF-8
/// character.
std::string tidy_title(const char* text);

/// Returns a description of each video track such as "1280×720 h264, ger, Camera 2".
std::vector<std::string> describe_video_tracks(const AVFormatContext& context);

/// Returns the number, from 1, of the video track with stream index `index`. Returns 0 if the stream is not a
/// video track.
int video_track_number(const AVFormatContext& context, int index);

}  // namespace lensd
