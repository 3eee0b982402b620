// Converts FFmpeg's pixel formats to PictureFormat, from FFmpeg's descriptors instead of a list of names.
#pragma once

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <optional>

#include "core/image/picture.hpp"

namespace lensd {

/// Returns the layout of `format`. Returns nullopt if its samples are not whole 8- to 16-bit little-endian
/// words, if its chroma is subsampled by more than 2, or if it has a palette or is grey with alpha, a
/// hardware surface, Bayer, float or XYZ. ConvertFallback converts such pictures if swscale supports their
/// format.
std::optional<PictureFormat> picture_format(AVPixelFormat format);

/// Returns the format to which pictures are converted if picture_format() has no layout for `format`: its
/// little-endian version if that has a layout; else RGBA for up to 8 bits; else GRAY16 for one component;
/// else RGBA64.
AVPixelFormat substitute_of(AVPixelFormat format);

/// Returns true for the full-range yuvj formats.
bool is_jpeg_range(AVPixelFormat format);

}  // namespace lensd
