// FFmpeg's pixel formats as PictureFormat, derived from FFmpeg's own descriptors instead of a list of names.
#pragma once

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <optional>

#include "core/image/picture.hpp"

namespace lensd {

/// The layout of `format`, or nothing when its samples are not whole 8- to 16-bit little-endian words, its
/// chroma is subsampled by more than 2, it has a palette, is a hardware surface, Bayer or float: such
/// pictures are converted (convert_fallback.hpp).
std::optional<PictureFormat> picture_format(AVPixelFormat format);

/// True for the full-range yuvj formats.
bool is_jpeg_range(AVPixelFormat format);

}  // namespace lensd
