// FFmpeg's version and hardware decoding, for `lensd doctor`.
#pragma once

#include <string>

namespace lensd {

/// Returns the versions of FFmpeg's libraries, for example "libavcodec 59.37.100, libavformat 59.27.100, …".
std::string ffmpeg_versions();

/// Returns why FFmpeg cannot decode on CUDA device `device`, or an empty string if it can.
std::string hardware_decoding_obstacle(int device);

}  // namespace lensd
