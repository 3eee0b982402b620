// Formats of video that lensd receives through PipeWire.
#pragma once

#include <spa/buffer/buffer.h>
#include <spa/param/video/raw.h>
#include <spa/pod/builder.h>

#include <array>
#include <span>

#include "core/image/view.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

struct ReceivedFormat {
  spa_video_format spa;
  AVPixelFormat pixels;
};
/// Returns the formats that lensd reads, the preferred one first.
std::span<const ReceivedFormat> received_formats();
/// Returns FFmpeg's pixel format, or AV_PIX_FMT_NONE if lensd does not read the format.
AVPixelFormat received_pixels(spa_video_format format);

/// Builds the description of the acceptable formats; `size` and `rate` are preferred. `most`: the highest
/// rate of a sender whose rate is variable, such as a screen; 0/1: no limit.
const spa_pod* build_request(spa_pod_builder& builder, Extent size, spa_fraction rate, spa_fraction most);

/// Reads a value in shared memory once. The sender may change it between a check and its use.
template <class T>
T read_once(const T& shared) {
  return *static_cast<const volatile T*>(&shared);
}

/// The planes of a picture in a shared buffer.
struct ReceivedPlanes {
  std::array<const uint8_t*, 4> data = {};
  std::array<int, 4> pitch_bytes = {};
};
/// Returns the header of a buffer; null if it has none.
const spa_meta_header* header_of(const spa_buffer& buffer);
/// Returns true if the sender has marked the picture as damaged, in the header or for one of the blocks.
bool marked_damaged(const spa_buffer& buffer);

/// Finds the planes of a picture. `memory[i]`: where block i of the buffer begins. If there are fewer blocks
/// than planes, all planes are in the first block. Its size decides whether it has PipeWire's or GStreamer's
/// layout. Returns false if a block cannot be read or is too small for the picture.
bool find_planes(const spa_buffer& buffer, std::span<const uint8_t* const> memory, AVPixelFormat pixels,
                 Extent size, ReceivedPlanes& planes);

/// Sets matrix, range, transfer and primaries of a picture.
void set_received_colour(const spa_video_info_raw& info, AVFrame& frame);

}  // namespace lensd
