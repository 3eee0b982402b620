// Pixel aspect, orientation and fields of decoded pictures.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/side_data.hpp"

namespace lensd {
namespace {

/// Returns the orientation of a photo's Exif data. FFmpeg before 8 makes a display matrix of it for JPEG
/// only, and not for WebP.
Orientation exif_orientation(const AVFrame& frame) {
  constexpr Orientation kOrientations[] = {{false, false, false}, {false, true, false}, {false, true, true},
                                           {false, false, true},  {true, false, false}, {true, true, false},
                                           {true, true, true},    {true, false, true}};
  const AVDictionaryEntry* tag = av_dict_get(frame.metadata, "Orientation", nullptr, 0);
  const long number = tag ? std::strtol(tag->value, nullptr, 10) : 1;
  return number >= 1 && number <= 8 ? kOrientations[number - 1] : Orientation{};
}

}  // namespace

PixelAspect pixel_aspect_of(AVRational sample_aspect_ratio) {
  constexpr int kMaxAspect = 20;
  PixelAspect aspect;
  av_reduce(&aspect.width, &aspect.height, sample_aspect_ratio.num, sample_aspect_ratio.den, 1 << 16);
  if (aspect.width < 1 || aspect.height < 1 || aspect.width > kMaxAspect * aspect.height ||
      aspect.height > kMaxAspect * aspect.width)
    return {};
  return aspect;
}

std::optional<Orientation> orientation_of(const int32_t* m) {
  // libavutil/display.h: x' = a·x + c·y, y' = b·x + d·y with a = m[0], b = m[1], c = m[3], d = m[4].
  const int64_t a = m[0], b = m[1], c = m[3], d = m[4];
  const auto negligible = [](int64_t value, int64_t other) {
    return std::llabs(value) * 64 <= std::llabs(other);
  };
  if (a && d && negligible(b, a) && negligible(c, d)) return Orientation{false, a < 0, d < 0};
  if (b && c && negligible(a, b) && negligible(d, c)) return Orientation{true, c < 0, b < 0};
  return std::nullopt;
}

Orientation orientation_of(const AVFrame& frame, const AVStream* stream) {
  const int32_t* matrix = nullptr;
  constexpr size_t kBytes = 9 * sizeof(int32_t);
  matrix = reinterpret_cast<const int32_t*>(side_data_of(frame, AV_FRAME_DATA_DISPLAYMATRIX, kBytes));
  if (!matrix)
    matrix = reinterpret_cast<const int32_t*>(side_data_of(stream, AV_PKT_DATA_DISPLAYMATRIX, kBytes));
  if (!matrix) return exif_orientation(frame);
  if (const auto orientation = orientation_of(matrix)) return *orientation;
  static std::atomic<bool> logged{false};
  if (!logged.exchange(true)) log::info("ignoring the video's rotation: it is not a multiple of 90 degrees");
  return {};
}

FieldOrder fields_of(const AVFrame& frame, const Orientation& orientation, AVCodecID codec) {
#ifdef AV_FRAME_FLAG_INTERLACED
  const bool interlaced = frame.flags & AV_FRAME_FLAG_INTERLACED;
  const bool top_first = frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
  const bool interlaced = frame.interlaced_frame;
  const bool top_first = frame.top_field_first;
#endif
  const bool separate = codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_VVC;
  if (!interlaced || separate || orientation.transpose) return FieldOrder::progressive;
  return flipped_fields(top_first ? FieldOrder::top_first : FieldOrder::bottom_first, orientation,
                        frame.height);
}

FieldOrder flipped_fields(FieldOrder fields, const Orientation& orientation, int height) {
  if (fields == FieldOrder::progressive || !orientation.flip_y || height % 2 != 0) return fields;
  return fields == FieldOrder::top_first ? FieldOrder::bottom_first : FieldOrder::top_first;
}

void mark_fields(AVFrame& frame, FieldOrder fields) {
  const bool interlaced = fields != FieldOrder::progressive, top_first = fields == FieldOrder::top_first;
#ifdef AV_FRAME_FLAG_INTERLACED
  frame.flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
  if (interlaced) frame.flags |= AV_FRAME_FLAG_INTERLACED;
  if (top_first) frame.flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
  frame.interlaced_frame = interlaced, frame.top_field_first = top_first;
#endif
}

std::array<int32_t, 9> display_matrix_of(const Orientation& o, Extent extent) {
  // libavutil/display.h; the translation moves the flipped picture back to the origin.
  constexpr int32_t kOne = 1 << 16, kMaxPixels = (1 << 15) - 1;
  const int32_t x = o.flip_x ? -kOne : kOne, y = o.flip_y ? -kOne : kOne;
  const Extent upright = o.transpose ? Extent{extent.height, extent.width} : extent;
  std::array<int32_t, 9> m{};
  m[o.transpose ? 3 : 0] = x, m[o.transpose ? 1 : 4] = y;
  if (o.flip_x) m[6] = std::min(upright.width, kMaxPixels) * kOne;
  if (o.flip_y) m[7] = std::min(upright.height, kMaxPixels) * kOne;
  m[8] = 1 << 30;
  return m;
}

}  // namespace lensd
