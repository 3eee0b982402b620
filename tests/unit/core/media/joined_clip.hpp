// MPEG files with pictures and beeps, to be joined. Written with FFmpeg's own encoders and muxers.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd::test {

struct ClipPart {
  double first_s = 0;  ///< time of the first picture in the file; 33-bit clocks wrap at 95,443.7 s
  int seconds = 4;
  int shade = 0;  ///< makes the pictures of parts differ
  AVCodecID codec = AV_CODEC_ID_MPEG2VIDEO;
};

inline constexpr int kClipFps = 25;

/// Returns a file of FFmpeg's muxer `format` with MPEG-2 pictures of 128×96 that are reordered, and a beep of
/// 50 ms at every full second after the first picture.
std::string mpeg_clip(const char* format, const ClipPart& part);

/// Inserts packets that demuxers ignore after every transport packet, until the file has about `bytes`.
std::string padded(const std::string& transport_stream, size_t bytes);

}  // namespace lensd::test
