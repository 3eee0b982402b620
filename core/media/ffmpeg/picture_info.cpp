#include "core/media/ffmpeg/picture_info.hpp"

extern "C" {
#include <libavcodec/packet.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/ffmpeg/side_data.hpp"

namespace lensd {
namespace {

bool is_jpeg_like(AVCodecID codec) {
  return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_MJPEGB || codec == AV_CODEC_ID_JPEGLS ||
         codec == AV_CODEC_ID_LJPEG || codec == AV_CODEC_ID_AMV;
}

/// Returns true for codecs whose grey pictures have limited range by default.
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
         : transfer == AVCOL_TRC_IEC61966_2_1 ? Transfer::srgb
         : transfer == AVCOL_TRC_ARIB_STD_B67 ? Transfer::hlg
                                              : Transfer::sdr;
}

/// Returns `tag`, or 2 (unspecified) for the reserved code points 0 and 3.
template <class Tag>
Tag without_reserved(Tag tag) {
  constexpr int kUnspecified = 2;
  return tag == 0 || tag == 3 ? static_cast<Tag>(kUnspecified) : tag;
}

Primaries primaries_of(const AVFrame& frame, Transfer transfer) {
  const bool wide_matrix =
      frame.colorspace == AVCOL_SPC_BT2020_NCL || frame.colorspace == AVCOL_SPC_BT2020_CL;
  switch (without_reserved(frame.color_primaries)) {
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

/// Returns the stream's code points. If the matrix is known but not tagged, as for JPEG, returns the known
/// matrix.
CodePoints code_points_of(const AVFrame& frame, const ColourSpec& colour, bool yuv) {
  AVColorSpace matrix = without_reserved(frame.colorspace);  // also drops 0 (RGB), invalid for YUV
  if (yuv && matrix == AVCOL_SPC_UNSPECIFIED && !colour.guessed.matrix)
    matrix = colour_space_of(colour.matrix);
  return {.present = true,
          .matrix = static_cast<uint8_t>(matrix),
          .transfer = static_cast<uint8_t>(without_reserved(frame.color_trc)),
          .primaries = static_cast<uint8_t>(without_reserved(frame.color_primaries))};
}

}  // namespace

void drop_unknown_tags(AVFrame& frame) {
  const auto check = [](auto& tag, int count) {
    int value = 0;
    static_assert(sizeof value == sizeof tag);
    std::memcpy(&value, &tag, sizeof value);
    return value >= 0 && value < count;
  };
  if (!check(frame.color_range, AVCOL_RANGE_NB)) frame.color_range = AVCOL_RANGE_UNSPECIFIED;
  if (!check(frame.colorspace, AVCOL_SPC_NB)) frame.colorspace = AVCOL_SPC_UNSPECIFIED;
  if (!check(frame.color_primaries, AVCOL_PRI_NB)) frame.color_primaries = AVCOL_PRI_UNSPECIFIED;
  if (!check(frame.color_trc, AVCOL_TRC_NB)) frame.color_trc = AVCOL_TRC_UNSPECIFIED;
  if (!check(frame.chroma_location, AVCHROMA_LOC_NB)) frame.chroma_location = AVCHROMA_LOC_UNSPECIFIED;
}

AVColorSpace colour_space_of(YuvMatrix matrix) {
  if (matrix == YuvMatrix::bt601) return AVCOL_SPC_SMPTE170M;
  return matrix == YuvMatrix::bt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_BT2020_NCL;
}

bool needs_dolby_vision(const AVStream& stream) {
  const auto* record = reinterpret_cast<const AVDOVIDecoderConfigurationRecord*>(
      side_data_of(&stream, AV_PKT_DATA_DOVI_CONF, sizeof(AVDOVIDecoderConfigurationRecord)));
  if (!record) return false;
  // Profile 5, and profiles from 10 (AV1 and later codecs) without a compatible base layer, use IPT-PQ-c2.
  // Its colours are wrong without Dolby Vision processing.
  return record->dv_profile == 5 || (record->dv_profile >= 10 && record->dv_bl_signal_compatibility_id == 0);
}

AVColorTransferCharacteristic transfer_tag(Transfer transfer) {
  return transfer == Transfer::pq       ? AVCOL_TRC_SMPTE2084
         : transfer == Transfer::hlg    ? AVCOL_TRC_ARIB_STD_B67
         : transfer == Transfer::linear ? AVCOL_TRC_LINEAR
         : transfer == Transfer::srgb   ? AVCOL_TRC_IEC61966_2_1
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
        without_reserved(frame.color_primaries) == AVCOL_PRI_UNSPECIFIED && out.primaries != Primaries::bt709;
  }
  if (av_frame_get_side_data(&frame, AV_FRAME_DATA_ICC_PROFILE)) {
    out.guessed.icc = true;
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true)) log::warn("ICC profiles are ignored: the picture's colours may differ");
  }
  out.coded = code_points_of(frame, out, false);
  if (format.model != ColourModel::yuv) return out;
  const auto tagged = matrix_of(frame.colorspace);
  if (tagged) {
    out.matrix = *tagged;
  } else if (is_jpeg_range(pixel_format) || is_jpeg_like(codec)) {
    out.matrix = YuvMatrix::bt601;  // the only matrix in JFIF
  } else {
    out.matrix = usual_matrix({frame.width, frame.height});
    out.guessed.matrix = true;
  }
  out.coded = code_points_of(frame, out, true);
  const bool unknown =
      !tagged && frame.colorspace != AVCOL_SPC_UNSPECIFIED && frame.colorspace != AVCOL_SPC_RESERVED;
  if (unknown || frame.colorspace == AVCOL_SPC_BT2020_CL) warn_of_matrix(frame.colorspace, out.matrix);
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

}  // namespace lensd
