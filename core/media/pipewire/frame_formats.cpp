#include "core/media/pipewire/frame_formats.hpp"

#include <spa/buffer/buffer.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/format.h>
#include <spa/param/param.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/image/dither.hpp"

namespace lensd {
namespace {

constexpr spa_video_format kColour[] = {SPA_VIDEO_FORMAT_RGBA, SPA_VIDEO_FORMAT_RGBx};
constexpr spa_video_format kGray[] = {SPA_VIDEO_FORMAT_GRAY8, SPA_VIDEO_FORMAT_RGBA, SPA_VIDEO_FORMAT_RGBx};
/// Slow receivers may keep some of the buffers. The other buffers absorb delays.
constexpr int kBuffers = 8, kFewestBuffers = 3;

void copy_gray(const uint8_t* row, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x, out += 4) {
    out[0] = out[1] = out[2] = row[x];
    out[3] = 255;
  }
}

uint8_t rounded_to_8_bits(uint32_t sample) {
  return static_cast<uint8_t>((sample * 255 + 32895) >> 16);
}

/// Dithers row `y`. Adds the thresholds, which are multiples of 1/128, as integers, so that 65535 stays
/// white.
void dither_row(const uint16_t* from, size_t samples, size_t channels, int y, uint8_t* out) {
  constexpr uint32_t kUnits = 128, kStep = 257 * kUnits;
  std::array<uint32_t, 32> thresholds;  // of consecutive samples
  for (size_t i = 0; i < thresholds.size(); ++i)
    thresholds[i] = static_cast<uint32_t>(dither_threshold(static_cast<int>(i / channels % 8), y) * kStep);
  for (size_t i = 0; i < samples; ++i)
    out[i] = static_cast<uint8_t>((from[i] * kUnits + thresholds[i % thresholds.size()]) / kStep);
}

}  // namespace

void copy_as_8_bits(ConstImageRef from, bool dither, ImageRef to) {
  const auto channels = static_cast<size_t>(from.channels());
  for (int y = 0; y < from.height(); ++y) {
    if (sample_bytes(from.format.format) == 1) {
      std::memcpy(to.row(y), from.row(y), from.row_bytes());
      continue;
    }
    const auto* samples = from.samples<uint16_t>(y);
    if (dither)
      dither_row(samples, from.format.row_samples(), channels, y, to.row(y));
    else
      std::transform(samples, samples + from.format.row_samples(), to.row(y), rounded_to_8_bits);
  }
}

spa_fraction rate_fraction(double fps) {
  if (!(fps > 0) || fps > 100'000) return {0, 1};
  if (std::abs(fps - std::round(fps)) < 1e-4) return {static_cast<uint32_t>(std::lround(fps)), 1};
  const double ntsc = fps * 1.001;
  if (ntsc > 1 && std::abs(ntsc - std::round(ntsc)) < 1e-3)
    return {static_cast<uint32_t>(std::lround(ntsc)) * 1000, 1001};
  return {static_cast<uint32_t>(std::max(1L, std::lround(fps * 1000))), 1000};
}

std::span<const spa_video_format> sent_formats(PixelFormat format) {
  if (format == PixelFormat::gray8) return kGray;
  return kColour;
}

int sent_row_bytes(spa_video_format format, int width) {
  return format == SPA_VIDEO_FORMAT_GRAY8 ? (width + 3) / 4 * 4 : width * 4;
}

void copy_frame(ConstImageRef frame, spa_video_format format, uint8_t* out) {
  const int row_bytes = sent_row_bytes(format, frame.width());
  const bool expand = frame.format.format == PixelFormat::gray8 && format != SPA_VIDEO_FORMAT_GRAY8;
  for (int y = 0; y < frame.height(); ++y, out += row_bytes) {
    if (expand)
      copy_gray(frame.row(y), frame.width(), out);
    else
      std::memcpy(out, frame.row(y), frame.row_bytes());
  }
}

const spa_pod* build_offer(spa_pod_builder& builder, const OfferedVideo& offered) {
  const std::span<const spa_video_format> formats = sent_formats(offered.frames.format);
  const spa_rectangle size = {static_cast<uint32_t>(offered.frames.extent.width),
                              static_cast<uint32_t>(offered.frames.extent.height)};
  spa_pod_frame object, choice;
  spa_pod_builder_push_object(&builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
  spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_format, 0);
  spa_pod_builder_push_choice(&builder, &choice, SPA_CHOICE_Enum, 0);
  spa_pod_builder_id(&builder, formats.front());  // the default
  for (const spa_video_format format : formats) spa_pod_builder_id(&builder, format);
  spa_pod_builder_pop(&builder, &choice);
  spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate,
                      SPA_POD_Fraction(&offered.rate), 0);
  const spa_fraction aspect = {static_cast<uint32_t>(offered.aspect.width),
                               static_cast<uint32_t>(offered.aspect.height)};
  const spa_fraction square = {1, 1};
  // Receivers that accept only square pixels get the picture too, with a wrong aspect.
  if (!offered.aspect.square())
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_pixelAspectRatio,
                        SPA_POD_CHOICE_ENUM_Fraction(3, &aspect, &aspect, &square), 0);
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &object));
}

const spa_pod* build_buffers(spa_pod_builder& builder, int row_bytes, int height) {
  constexpr int kMemory = (1 << SPA_DATA_MemFd) | (1 << SPA_DATA_MemPtr);
  return static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
      SPA_POD_CHOICE_RANGE_Int(kBuffers, kFewestBuffers, kMaxBuffers), SPA_PARAM_BUFFERS_blocks,
      SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int(row_bytes * height), SPA_PARAM_BUFFERS_stride,
      SPA_POD_Int(row_bytes), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(kMemory)));
}

const spa_pod* build_meta_request(spa_pod_builder& builder, uint32_t type, size_t bytes) {
  return static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type),
      SPA_PARAM_META_size, SPA_POD_Int(static_cast<int>(bytes))));
}

const spa_pod* build_header_request(spa_pod_builder& builder) {
  return build_meta_request(builder, SPA_META_Header, sizeof(spa_meta_header));
}

}  // namespace lensd
