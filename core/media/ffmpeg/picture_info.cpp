#include "core/media/ffmpeg/picture_info.hpp"

extern "C" {
#include <libavcodec/packet.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>

#include <atomic>
#include <cstdlib>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/ffmpeg/side_data.hpp"

namespace lensd {
namespace {

bool is_jpeg_like(AVCodecID codec) {
  return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_MJPEGB || codec == AV_CODEC_ID_JPEGLS ||
         codec == AV_CODEC_ID_LJPEG || codec == AV_CODEC_ID_AMV;
}

/// Returns true for codecs whose gray pictures have limited range by default.
bool has_video_range(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_AV1 ||
         codec == AV_CODEC_ID_VP9 || codec == AV_CODEC_ID_MPEG4 || codec == AV_CODEC_ID_MPEG2VIDEO;
}

std::optional<YuvMatrix> matrix_of(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_SMPTE240M:  // luma weights within 0.015 of BT.709
      return YuvMatrix::bt709;
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return YuvMatrix::bt601;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return YuvMatrix::bt2020;
    default:
      return std::nullopt;
  }
}

/// Warns once per matrix that lensd decodes a stream with `used` instead.
void warn_of_matrix(AVColorSpace space, YuvMatrix used) {
  static std::atomic<uint32_t> warned{0};
  const uint32_t bit = 1u << (space & 31);
  if (warned.fetch_or(bit, std::memory_order_relaxed) & bit) return;
  const char* name = av_color_space_name(space);
  log::warn("the stream's matrix {} is not supported, decoding with {}: its colours are wrong",
            name ? name : "unknown", av_color_space_name(colour_space_of(used)));
}

Range range_of(const AVFrame& frame, AVPixelFormat pixel_format, const PictureFormat& format,
               AVCodecID codec) {
  if (format.model == ColourModel::rgb || is_jpeg_range(pixel_format)) return Range::full;
  if (frame.color_range == AVCOL_RANGE_JPEG) return Range::full;
  if (frame.color_range == AVCOL_RANGE_MPEG) return Range::limited;
  if (is_jpeg_like(codec)) return Range::full;
  return format.model == ColourModel::gray && !has_video_range(codec) ? Range::full : Range::limited;
}

ChromaSiting siting_of(const AVFrame& frame, AVPixelFormat pixel_format, AVCodecID codec) {
  switch (frame.chroma_location) {
    case AVCHROMA_LOC_CENTER:
      return ChromaSiting::center;
    case AVCHROMA_LOC_TOPLEFT:
      return ChromaSiting::top_left;
    case AVCHROMA_LOC_UNSPECIFIED:
      break;
    default:
      return ChromaSiting::left;
  }
  const bool centred = is_jpeg_range(pixel_format) || is_jpeg_like(codec) || codec == AV_CODEC_ID_MPEG1VIDEO;
  return centred ? ChromaSiting::center : ChromaSiting::left;
}

std::optional<double> content_peak(const uint8_t* light_level) {
  if (!light_level) return std::nullopt;
  const unsigned most = reinterpret_cast<const AVContentLightMetadata*>(light_level)->MaxCLL;
  return most > 0 ? std::optional<double>(most) : std::nullopt;
}

std::optional<double> mastering_peak(const uint8_t* display) {
  if (!display) return std::nullopt;
  const auto& metadata = *reinterpret_cast<const AVMasteringDisplayMetadata*>(display);
  const double most = av_q2d(metadata.max_luminance);
  return metadata.has_luminance && most > 0 ? std::optional<double>(most) : std::nullopt;
}

Transfer transfer_of(AVColorTransferCharacteristic transfer) {
  return transfer == AVCOL_TRC_SMPTE2084      ? Transfer::pq
         : transfer == AVCOL_TRC_LINEAR       ? Transfer::linear
         : transfer == AVCOL_TRC_ARIB_STD_B67 ? Transfer::hlg
                                              : Transfer::sdr;
}

Primaries primaries_of(const AVFrame& frame, Transfer transfer) {
  const bool wide_matrix =
      frame.colorspace == AVCOL_SPC_BT2020_NCL || frame.colorspace == AVCOL_SPC_BT2020_CL;
  switch (frame.color_primaries) {
    case AVCOL_PRI_BT2020:
      return Primaries::bt2020;
    case AVCOL_PRI_SMPTE431:
    case AVCOL_PRI_SMPTE432:
      return Primaries::p3;
    case AVCOL_PRI_SMPTE170M:
    case AVCOL_PRI_SMPTE240M:
      return Primaries::bt601_525;
    case AVCOL_PRI_BT470BG:
      return Primaries::bt601_625;
    case AVCOL_PRI_UNSPECIFIED:
      return is_hdr(transfer) || wide_matrix ? Primaries::bt2020 : Primaries::bt709;
    default:
      return Primaries::bt709;
  }
}

}  // namespace

AVColorSpace colour_space_of(YuvMatrix matrix) {
  if (matrix == YuvMatrix::bt601) return AVCOL_SPC_SMPTE170M;
  return matrix == YuvMatrix::bt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_BT2020_NCL;
}

bool needs_dolby_vision(const AVStream& stream) {
  const auto* record = reinterpret_cast<const AVDOVIDecoderConfigurationRecord*>(
      side_data_of(&stream, AV_PKT_DATA_DOVI_CONF, sizeof(AVDOVIDecoderConfigurationRecord)));
  return record && record->dv_profile == 5;
}

AVColorTransferCharacteristic transfer_tag(Transfer transfer) {
  return transfer == Transfer::pq       ? AVCOL_TRC_SMPTE2084
         : transfer == Transfer::hlg    ? AVCOL_TRC_ARIB_STD_B67
         : transfer == Transfer::linear ? AVCOL_TRC_LINEAR
                                        : AVCOL_TRC_BT709;
}

AVColorPrimaries primaries_tag(Primaries primaries) {
  switch (primaries) {
    case Primaries::bt2020:
      return AVCOL_PRI_BT2020;
    case Primaries::p3:
      return AVCOL_PRI_SMPTE432;
    case Primaries::bt601_525:
      return AVCOL_PRI_SMPTE170M;
    case Primaries::bt601_625:
      return AVCOL_PRI_BT470BG;
    default:
      return AVCOL_PRI_BT709;
  }
}

AVChromaLocation chroma_location_of(ChromaSiting siting) {
  if (siting == ChromaSiting::center) return AVCHROMA_LOC_CENTER;
  return siting == ChromaSiting::top_left ? AVCHROMA_LOC_TOPLEFT : AVCHROMA_LOC_LEFT;
}

YuvMatrix guessed_matrix(Extent extent) {
  return extent.height > 576 || extent.width > 1024 ? YuvMatrix::bt709 : YuvMatrix::bt601;
}

ColourSpec colour_of(const AVFrame& frame, AVPixelFormat pixel_format, const PictureFormat& format,
                     AVCodecID codec) {
  ColourSpec out;
  out.range = range_of(frame, pixel_format, format, codec);
  out.guessed.range = format.model == ColourModel::yuv && frame.color_range == AVCOL_RANGE_UNSPECIFIED &&
                      !is_jpeg_range(pixel_format) && !is_jpeg_like(codec);
  if (format.model != ColourModel::gray) {
    out.transfer = transfer_of(frame.color_trc);
    out.primaries = primaries_of(frame, out.transfer);
    out.guessed.primaries =
        frame.color_primaries == AVCOL_PRI_UNSPECIFIED && out.primaries != Primaries::bt709;
  }
  if (format.model != ColourModel::yuv) return out;
  const auto tagged = matrix_of(frame.colorspace);
  if (tagged) {
    out.matrix = *tagged;
  } else if (is_jpeg_range(pixel_format) || is_jpeg_like(codec)) {
    out.matrix = YuvMatrix::bt601;  // the only matrix in JFIF
  } else {
    out.matrix = guessed_matrix({frame.width, frame.height});
    out.guessed.matrix = true;
  }
  if (!tagged && frame.colorspace != AVCOL_SPC_UNSPECIFIED && frame.colorspace != AVCOL_SPC_RESERVED)
    warn_of_matrix(frame.colorspace, out.matrix);
  if (format.chroma_shift_x || format.chroma_shift_y) out.siting = siting_of(frame, pixel_format, codec);
  return out;
}

std::optional<uint16_t> peak_of(const AVFrame& frame, const AVStream* stream) {
  constexpr size_t kLevel = sizeof(AVContentLightMetadata), kDisplay = sizeof(AVMasteringDisplayMetadata);
  auto peak = content_peak(side_data_of(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, kLevel));
  if (!peak) peak = content_peak(side_data_of(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, kLevel));
  if (!peak) peak = mastering_peak(side_data_of(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, kDisplay));
  if (!peak) peak = mastering_peak(side_data_of(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, kDisplay));
  if (!peak) return std::nullopt;
  return static_cast<uint16_t>(std::clamp(*peak, double{kMinPeak}, double{kMaxPeak}));
}

PixelAspect pixel_aspect_of(AVRational sample_aspect_ratio) {
  constexpr int kMostSlender = 20;
  PixelAspect aspect;
  av_reduce(&aspect.width, &aspect.height, sample_aspect_ratio.num, sample_aspect_ratio.den, 1 << 16);
  if (aspect.width < 1 || aspect.height < 1 || aspect.width > kMostSlender * aspect.height ||
      aspect.height > kMostSlender * aspect.width)
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
  if (!matrix) return {};
  if (const auto orientation = orientation_of(matrix)) return *orientation;
  static std::atomic<bool> logged{false};
  if (!logged.exchange(true)) log::info("ignoring the video's rotation: it is not a multiple of 90 degrees");
  return {};
}

FieldOrder fields_of(const AVFrame& frame, const Orientation& orientation) {
#ifdef AV_FRAME_FLAG_INTERLACED
  const bool interlaced = frame.flags & AV_FRAME_FLAG_INTERLACED;
  bool top_first = frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
  const bool interlaced = frame.interlaced_frame;
  bool top_first = frame.top_field_first;
#endif
  if (!interlaced || orientation.transpose) return FieldOrder::progressive;
  if (orientation.flip_y && frame.height % 2 == 0) top_first = !top_first;
  return top_first ? FieldOrder::top_first : FieldOrder::bottom_first;
}

}  // namespace lensd
