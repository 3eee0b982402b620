// Chooses the encoder and its settings. Internal to core/media.
#pragma once

#include <string>
#include <vector>

#include "core/media/encoder_options.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Throws Error(usage) if `codec` (EncoderOptions::codec) names no encoder. `where` is for the message.
void check_encoder_name(const std::string& codec, const std::string& where);

/// Returns the usable encoders, best first. If `options` request "hardware" and an encoder does not start,
/// the caller tries the next one. `where` is for messages. Throws Error(usage) if FFmpeg has no such encoder
/// or the container does not support its codec, Error(runtime_failure) if FFmpeg has no encoder for the
/// container.
std::vector<const AVCodec*> encoders_for(const AVOutputFormat& container, const EncoderOptions& options,
                                         const std::string& where);

/// Returns the encoder's options for a stream in the container `muxer`: `options` with the key-frame interval
/// and maximum delay for streams. For a device (muxer "v4l2"), returns the options of raw video.
EncoderOptions stream_encoder(const std::string& muxer, EncoderOptions options);

/// Sets preset, key-frame interval, rate, quality and delay in `c` and `settings`. The codec, size and frame
/// rate of `c` must be set.
void set_rate(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings);

/// Returns true if the codec has no lossy mode.
bool lossless_only(AVCodecID id);
/// Returns true for codecs that need a constant frame rate, because they have a list of frame rates or a
/// 16-bit clock. (AVI also needs a constant frame rate.)
bool needs_fixed_rate(AVCodecID id);
/// Returns the pixel formats that the encoder supports; empty if FFmpeg does not list them.
std::vector<AVPixelFormat> supported_formats(const AVCodec& codec);

}  // namespace lensd
