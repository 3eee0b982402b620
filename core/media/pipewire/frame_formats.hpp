// Converts a virtual camera's frames to PipeWire's video formats, and builds the SPA descriptions of formats
// and buffers.
#pragma once

#include <spa/param/video/raw.h>
#include <spa/pod/builder.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image/pixel_aspect.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Maximum number of shared buffers of a stream.
inline constexpr int kMaxBuffers = 16;

/// Format, rate and aspect of the frames that a virtual camera offers.
struct OfferedVideo {
  ImageFormat frames;
  spa_fraction rate = {0, 1};  ///< 0/1: unknown
  PixelAspect aspect = {};
  bool operator==(const OfferedVideo& other) const {
    return frames == other.frames && rate.num == other.rate.num && rate.denom == other.rate.denom &&
           aspect == other.aspect;
  }
};

/// Returns a rate as a fraction. Whole numbers and NTSC rates are exact; other rates are rounded to a
/// thousandth.
spa_fraction rate_fraction(double fps);
/// Returns the formats in which frames of `format`, gray8 or rgba8, can be sent, the preferred one first.
std::span<const spa_video_format> sent_formats(PixelFormat format);
/// Returns the bytes per row of a shared buffer: those of the pixels, rounded up to 4 bytes as in GStreamer.
int sent_row_bytes(spa_video_format format, int width);
/// Returns the format of the image that copy_as_8_bits() writes for an image of `format`.
constexpr ImageFormat as_8_bits(ImageFormat format) {
  return {make_format(is_gray(format.format), 1), format.extent};
}
/// Copies an image to `to`, which has the format that as_8_bits() returns. If `dither` is true, dithers
/// samples of 16 bits with dither_threshold(), else rounds them to nearest, both as the filters do.
void copy_as_8_bits(ConstImageRef from, bool dither, ImageRef to);

/// Copies a frame of 8 bits into a shared buffer of `format`, one of sent_formats(). Grey becomes opaque grey
/// if the buffer has four channels. Does not write padding between rows.
void copy_frame(ConstImageRef frame, spa_video_format format, uint8_t* out);

/// Builds the description of the offered formats. The result is in the builder's memory.
const spa_pod* build_offer(spa_pod_builder& builder, const OfferedVideo& offered);
/// Builds the description of shared buffers in memory with `row_bytes` per row.
const spa_pod* build_buffers(spa_pod_builder& builder, int row_bytes, int height);
/// Builds the request for metadata in each buffer. `type`: a value of spa_meta_type.
const spa_pod* build_meta_request(spa_pod_builder& builder, uint32_t type, size_t bytes);
/// Builds the request for a header (timestamp and sequence number) in each buffer.
const spa_pod* build_header_request(spa_pod_builder& builder);

}  // namespace lensd
