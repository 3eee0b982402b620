// Chooses the pixel format and the colours of an encoder's input. Internal to core/media.
#pragma once

#include <string>

#include "core/media/ffmpeg/pixels.hpp"

namespace lensd {

struct EncoderOptions;

/// Returns the encoder's format for pictures in the format `input`.
///   decoded pictures  the same layout, else the same samples in planes, else the format that loses least;
///                     EncoderOptions::depth applies to RGB and 8-bit grey only
///   working images    8 or 10 bits, by EncoderOptions::depth; lossless encoders: RGB with all bits
/// YUV input keeps its matrix; RGB and grey input gets EncoderOptions::matrix or that option's default. MJPEG
/// always uses full-range BT.601. Range and siting stay the same if the subsampling does; otherwise the range
/// is limited and the siting is left. MJPEG and MPEG-1 always have centred chroma. Throws Error(usage) if the
/// encoder has no suitable format; `where` is for the message.
PixelsFormat encoder_format(const AVCodec& codec, const PixelsFormat& input, const EncoderOptions& options,
                            const std::string& where);

/// Returns a message if pictures lose depth, chroma samples or transparency by the conversion from `input`,
/// or if HDR is encoded with 8 bits; else an empty string.
std::string conversion_notice(const AVCodec& codec, const PixelsFormat& input, const PixelsFormat& output);

}  // namespace lensd
