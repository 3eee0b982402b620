// Which encoder runs and how it is set. Internal to core/media.
#pragma once

#include <string>
#include <vector>

#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

/// The encoders to try, best first; all but the last may fail to start. Throws Error(usage) for a name that
/// FFmpeg does not know or a codec that the container does not take.
std::vector<const AVCodec*> encoders_for(const AVOutputFormat& container, const EncoderOptions& options,
                                         const std::string& where);

/// Rate, quality and delay of `c`, whose codec, size and frame rate are set.
void set_rate(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings);

/// The encoder has no lossy mode: pictures come back as they went in.
bool lossless_only(AVCodecID id);
/// MPEG's first codecs know a list of frame rates or a 16-bit clock. (AVI has a rate only, too.)
bool counts_frames(AVCodecID id);
/// Pixel formats that the encoder takes; empty: any.
std::vector<AVPixelFormat> supported_formats(const AVCodec& codec);

}  // namespace lensd
