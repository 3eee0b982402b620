#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

bool is_jpeg_like(AVCodecID codec) {
  return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_MJPEGB || codec == AV_CODEC_ID_JPEGLS ||
         codec == AV_CODEC_ID_LJPEG || codec == AV_CODEC_ID_AMV;
}

/// Codecs whose standard gives luma 16..235 a meaning even without chroma.
bool has_video_range(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_AV1 ||
         codec == AV_CODEC_ID_VP9 || codec == AV_CODEC_ID_MPEG4 || codec == AV_CODEC_ID_MPEG2VIDEO;
}

std::optional<YuvMatrix> matrix_of(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_SMPTE240M:  // within 0.01 of BT.709
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

}  // namespace

YuvMatrix guessed_matrix(Extent extent) {
  return extent.height > 576 || extent.width > 1024 ? YuvMatrix::bt709 : YuvMatrix::bt601;
}

ColourSpec colour_of(const AVFrame& frame, AVPixelFormat pixel_format, const PictureFormat& format,
                     AVCodecID codec) {
  ColourSpec out;
  out.range = range_of(frame, pixel_format, format, codec);
  if (format.model != ColourModel::yuv) return out;
  if (const auto tagged = matrix_of(frame.colorspace)) {
    out.matrix = *tagged;
  } else if (is_jpeg_range(pixel_format) || is_jpeg_like(codec)) {
    out.matrix = YuvMatrix::bt601;  // JFIF knows no other
  } else {
    out.matrix = guessed_matrix({frame.width, frame.height});
    out.guessed = true;
  }
  if (format.chroma_shift_x || format.chroma_shift_y) out.siting = siting_of(frame, pixel_format, codec);
  return out;
}

}  // namespace lensd
