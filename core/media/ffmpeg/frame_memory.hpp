// Checks that the memory of a decoded frame has the size that its fields announce. Internal to core/media.
#pragma once

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Returns true if every row of every plane, and a palette, is inside one of the frame's buffers. For damaged
/// AV1 streams, libdav1d 1.0 returns frames with the pixel format of one picture and the planes of another;
/// reading them would go out of bounds. Returns true for frames in GPU memory, which the function cannot
/// check.
bool has_all_rows(const AVFrame& frame) noexcept;

/// Returns true if all samples of an audio frame are inside its buffers.
bool has_all_samples(const AVFrame& frame) noexcept;

}  // namespace lensd
