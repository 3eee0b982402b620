// Side data of streams and frames, with the same functions for all versions of FFmpeg. Internal to
// core/media.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Return the side data of this type, or null if it is absent or has fewer than `bytes` bytes. The data is
/// valid as long as the stream or frame has it. `stream` may be null.
const uint8_t* side_data_of(const AVStream* stream, AVPacketSideDataType type, size_t bytes);
const uint8_t* side_data_of(const AVFrame& frame, AVFrameSideDataType type, size_t bytes);

/// Add side data of `bytes` bytes and return it, to be filled by the caller. Call before the header is
/// written, and once for each type. Throw MemoryError if out of memory.
uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type, size_t bytes);
uint8_t* add_side_data(AVFrame& frame, AVFrameSideDataType type, size_t bytes);

}  // namespace lensd
