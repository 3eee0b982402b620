// FFmpeg's version and hardware decoding, for `lensd doctor`.
#pragma once

#include <string>

namespace lensd {

/// "libavcodec 59.37.100, libavformat 59.27.100, …".
std::string ffmpeg_versions();

/// Why FFmpeg cannot decode on CUDA device `device`; empty if it can.
std::string hardware_decoding_obstacle(int device);

}  // namespace lensd
