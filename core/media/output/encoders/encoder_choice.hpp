// The choice of the encoder and its settings. Internal to core/media.
#pragma once

#include <string>
#include <vector>

#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// The encoders to try, best first; all but the last may fail to start. Throws Error(usage) if FFmpeg has no
/// such encoder or the container does not support its codec. `where` is for messages.
std::vector<const AVCodec*> encoders_for(const AVOutputFormat& container, const EncoderOptions& options,
                                         const std::string& where);

/// Sets rate, quality and delay of `c`, whose codec, size and frame rate are set already.
void set_rate(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings);

/// The codec has no lossy mode.
bool lossless_only(AVCodecID id);
/// Codecs with a list of frame rates or a 16-bit clock need a constant frame rate. (So does AVI.)
bool needs_fixed_rate(AVCodecID id);
/// Pixel formats that the encoder supports; empty: any.
std::vector<AVPixelFormat> supported_formats(const AVCodec& codec);

}  // namespace lensd
