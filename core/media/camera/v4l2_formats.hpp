// The uncompressed and compressed formats of Video4Linux that lensd reads, with FFmpeg's names.
//
// Source: Documentation/userspace-api/media/v4l in the Linux kernel, which defines the bytes of each code.
#pragma once

#include <cstdint>
#include <span>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

struct CameraFormatEntry {
  uint32_t fourcc;
  const char* name;      ///< FFmpeg's name of the codec or pixel format
  AVCodecID codec;       ///< AV_CODEC_ID_RAWVIDEO: uncompressed
  AVPixelFormat pixels;  ///< AV_PIX_FMT_NONE: compressed
  int rank;              ///< among formats with the same size and rate, the lowest rank is preferred
  bool v_first = false;  ///< the V plane precedes the U plane

  bool raw() const noexcept { return codec == AV_CODEC_ID_RAWVIDEO; }
};

std::span<const CameraFormatEntry> camera_format_table() noexcept;
/// Returns null if lensd does not support the format.
const CameraFormatEntry* find_camera_format(uint32_t fourcc) noexcept;
/// Returns the uncompressed format with these pixels, preferably with one memory plane. Returns null if there
/// is none.
const CameraFormatEntry* find_camera_format(AVPixelFormat pixels) noexcept;

}  // namespace lensd
