#include "core/media/ffmpeg/frame_memory.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace lensd {
namespace {

/// Addresses are compared as numbers, because the pointers may belong to different blocks.
bool is_in(const AVBufferRef* buffer, uintptr_t begin, size_t bytes) noexcept {
  if (!buffer) return false;
  const auto first = reinterpret_cast<uintptr_t>(buffer->data);
  return begin >= first && bytes <= buffer->size && begin - first <= buffer->size - bytes;
}

bool is_in_buffer(const AVFrame& frame, uintptr_t begin, size_t bytes) noexcept {
  const auto holds = [&](const AVBufferRef* buffer) { return is_in(buffer, begin, bytes); };
  return std::any_of(std::begin(frame.buf), std::end(frame.buf), holds) ||
         std::any_of(frame.extended_buf, frame.extended_buf + frame.nb_extended_buf, holds);
}

}  // namespace

bool has_all_rows(const AVFrame& frame) noexcept {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  if (frame.hw_frames_ctx || (description && description->flags & AV_PIX_FMT_FLAG_HWACCEL)) return true;
  int row_bytes[4];
  if (!description || av_image_fill_linesizes(row_bytes, format, frame.width) < 0) return false;
  for (int p = 0; p < 4; ++p) {
    if (row_bytes[p] == 0) continue;
    const bool chroma = p == 1 || p == 2;
    const int rows = AV_CEIL_RSHIFT(frame.height, chroma ? description->log2_chroma_h : 0);
    const int64_t pitch = frame.linesize[p], distance = pitch * (rows - 1);
    if (!frame.data[p] || rows < 1 || (rows > 1 && std::abs(pitch) < row_bytes[p])) return false;
    const auto first = reinterpret_cast<uintptr_t>(frame.data[p]);
    const uintptr_t lowest = distance < 0 ? first - static_cast<uintptr_t>(-distance) : first;
    if (!is_in_buffer(frame, lowest, static_cast<size_t>(std::abs(distance) + row_bytes[p]))) return false;
  }
  const bool palette = description->flags & AV_PIX_FMT_FLAG_PAL;
  return !palette || is_in_buffer(frame, reinterpret_cast<uintptr_t>(frame.data[1]), AVPALETTE_SIZE);
}

bool has_all_samples(const AVFrame& frame) noexcept {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const int channels = frame.ch_layout.nb_channels, sample_bytes = av_get_bytes_per_sample(format);
  if (channels < 1 || sample_bytes < 1 || frame.nb_samples < 0 || !frame.extended_data) return false;
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  const int planes = planar ? channels : 1;
  const size_t bytes = static_cast<size_t>(frame.nb_samples) * static_cast<size_t>(sample_bytes) *
                       static_cast<size_t>(planar ? 1 : channels);
  return std::all_of(frame.extended_data, frame.extended_data + planes, [&](const uint8_t* plane) {
    return plane && is_in_buffer(frame, reinterpret_cast<uintptr_t>(plane), bytes);
  });
}

}  // namespace lensd
