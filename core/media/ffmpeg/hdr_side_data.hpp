// Static HDR metadata as FFmpeg's side data. Internal to core/media.
#pragma once

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/hdr_metadata.hpp"

namespace lensd {

/// Returns the metadata of the frame. Values that the frame lacks are taken from `stream`, which may be null.
/// Values outside the ranges of HdrMetadata are ignored.
HdrMetadata hdr_metadata_of(const AVFrame& frame, const AVStream* stream);

/// Add the metadata to a stream, for the container, or to a frame, for encoders that read it there. Call
/// once. Throw MemoryError if out of memory.
void add_hdr_metadata(AVStream& stream, const HdrMetadata& hdr);
void add_hdr_metadata(AVFrame& frame, const HdrMetadata& hdr);
/// Makes an encoder write the metadata into the bitstream. Works for x264 and x265, and since FFmpeg 7 for
/// all encoders that support it. Call before the encoder is opened. `settings`: the encoder's options.
void add_to_bitstream(AVCodecContext& encoder, const HdrMetadata& hdr, ff::Options& settings);

}  // namespace lensd
