// Colour and orientation of a decoded AVFrame.
#pragma once

#include <optional>

#include "core/image/picture.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Matrix, range and siting of `frame`, whose layout is `format`. Defaults for untagged streams are those of
/// common players: BT.709 above 1024×576, else BT.601; limited range for YUV of video codecs, full range for
/// RGB, gray and JPEG; chroma sited left, or centred for JPEG and MPEG-1 as their standards define it.
ColourSpec colour_of(const AVFrame& frame, AVPixelFormat pixel_format, const PictureFormat& format,
                     AVCodecID codec);

/// FFmpeg's value, for streams and for sws_getCoefficients().
AVColorSpace colour_space_of(YuvMatrix matrix);

/// The matrix assumed for an untagged picture of this size.
YuvMatrix guessed_matrix(Extent extent);

/// Orientation of an FFmpeg display matrix (9 numbers, 16.16 fixed point). Returns nullopt if it is not made
/// of quarter turns and flips.
std::optional<Orientation> orientation_of(const int32_t* display_matrix);

/// The frame's own display matrix, else the stream's, else upright.
Orientation orientation_of(const AVFrame& frame, const AVStream* stream);

}  // namespace lensd
