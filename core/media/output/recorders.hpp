// The recorders behind open_recorder(). Internal to core/media.
#pragma once

#include <memory>
#include <string>

#include "core/media/recorder.hpp"

namespace lensd {

std::unique_ptr<Recorder> make_image_recorder(const std::string& path, const RecorderOptions& options);
/// `muxer` is FFmpeg's name of the container.
std::unique_ptr<Recorder> make_video_recorder(const std::string& path, const std::string& muxer,
                                              ImageFormat format, const RecorderOptions& options);

}  // namespace lensd
